//! Recordings of calls: the turns, spoken by two voices.

use serde_json::Value;
use tokio::sync::Semaphore;

use super::super::Access;
use super::since;
use super::synthesis::{self, RATE, SynthesisError, Voice};
use crate::{App, AppError};

/// Maximum number of recordings at a time. Each needs a CPU and tens of megabytes.
const MAX_CONCURRENT: usize = 2;
static MAKING: Semaphore = Semaphore::const_new(MAX_CONCURRENT);
/// Longer calls have no recording.
const MAX_LETTERS: usize = 12_000;
/// The pause between two turns, and for each key.
const PAUSE: usize = RATE / 4;

/// The call as a WAV file with one channel.
pub async fn record(app: &App, access: &Access, call: String) -> Result<Vec<u8>, AppError> {
    let (_, turns) = since(app, access, call, 0).await?;
    let spoken: Vec<(Voice, String)> = turns.iter().map(words).filter(|(_, text)| !text.trim().is_empty()).collect();
    if spoken.is_empty() {
        return Err(AppError::conflict("nothing was said in the call"));
    }
    if spoken.iter().map(|(_, text)| text.len()).sum::<usize>() > MAX_LETTERS {
        let message = format!("a recording is made of calls of at most {MAX_LETTERS} letters; read its turns");
        return Err(AppError::conflict(message));
    }
    let _place = MAKING.acquire().await.map_err(|error| AppError::Internal(error.to_string()))?;
    let made = tokio::task::spawn_blocking(move || sound(&spoken)).await;
    let samples = made.map_err(|error| AppError::Internal(error.to_string()))?.map_err(|error| match error {
        SynthesisError::Unavailable => {
            AppError::conflict("this server makes no recordings: the program `espeak-ng` is not installed")
        }
        SynthesisError::Failed => AppError::conflict("the recording could not be made; read the call's turns"),
    })?;
    Ok(wav(&samples))
}

/// Keys are spoken by name.
fn words(turn: &Value) -> (Voice, String) {
    let text = |member: &str| turn[member].as_str().unwrap_or_default();
    let voice = if text("speaker") == "agent" { Voice::Agent } else { Voice::Line };
    let keys: Vec<String> = text("dtmf")
        .chars()
        .map(|key| match key {
            '*' => "star".to_owned(),
            '#' => "pound".to_owned(),
            key => key.to_string(),
        })
        .collect();
    (voice, if keys.is_empty() { text("text").to_owned() } else { keys.join(", ") })
}

fn sound(spoken: &[(Voice, String)]) -> Result<Vec<i16>, SynthesisError> {
    let mut samples = Vec::new();
    for (voice, text) in spoken {
        samples.extend(synthesis::speak(text, *voice)?);
        samples.resize(samples.len() + PAUSE, 0);
    }
    // Half of the samples is telephone quality.
    Ok(samples.chunks_exact(2).map(|pair| pair.iter().map(|sample| sample / 2).sum()).collect())
}

/// RIFF WAVE, PCM, one channel, 16 bits.
fn wav(samples: &[i16]) -> Vec<u8> {
    let rate = (RATE / 2) as u32;
    let bytes = u32::try_from(samples.len() * 2).unwrap_or(u32::MAX);
    let mut wav = Vec::with_capacity(44 + samples.len() * 2);
    wav.extend(b"RIFF");
    wav.extend(bytes.saturating_add(36).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16u32.to_le_bytes());
    wav.extend([1u16, 1].iter().flat_map(|number| number.to_le_bytes()));
    wav.extend([rate, rate * 2].iter().flat_map(|number| number.to_le_bytes()));
    wav.extend([2u16, 16].iter().flat_map(|number| number.to_le_bytes()));
    wav.extend(b"data");
    wav.extend(bytes.to_le_bytes());
    wav.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    wav
}
