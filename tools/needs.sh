# What the tests need besides Rust: found, installed where this user may, else named in `missing`.
# Sourced by ./test.

NEXTEST_VERSION=0.9.143
VENV=.test/venv
# Of its own, because what it needs cannot stand beside the others.
X12_VENV=.test/x12-venv
CDS_VENV=.test/cds-venv
# Beside the installed packages, because Node looks for them where a script lies.
NODE_CLIENTS=.test/node-clients
BROWSER=.test/browser
missing=()

is_command() { command -v "$1" >/dev/null; }

find_postgres() {
    local server
    for server in /usr/lib/postgresql/*/bin/postgres "$(command -v postgres || true)"; do
        if [[ -x $server ]]; then POSTGRES_BIN=$(dirname "$(readlink -f "$server")"); fi
    done
    [[ -n ${POSTGRES_BIN:-} ]]
}

# Debian's python3 comes without ensurepip, and then cannot make a virtual environment that has pip.
python_makes_environments() { python3 -c 'import venv, ensurepip' 2>/dev/null; }

# With `fetch` of its own: version 18 or later. Debian's npm is a package of its own.
has_node() { is_command npm && node -e 'process.exit(typeof fetch === "function" ? 0 : 1)' 2>/dev/null; }

# Runs apt-get or dpkg with its output in .test/apt.log, and again while another process holds a lock, for ten minutes.
run_apt() {
    local waited=0
    while ! "$@" &>.test/apt.log; do
        if ! grep -Eq 'Could not get lock|Unable to lock|is locked by another process' .test/apt.log; then return 1; fi
        if [[ $waited -ge 600 ]]; then return 1; fi
        if [[ $waited -eq 0 ]]; then say "Waiting for another process that uses the package manager"; fi
        sleep 5
        waited=$((waited + 5))
    done
}

# One group of packages, so that one that cannot be installed does not keep the others away.
install_group() {
    say "Installing $*"
    if run_apt apt-get install -y --no-install-recommends "$@"; then return; fi
    say "apt-get could not install $*. Its last lines, from .test/apt.log:"
    tail -n 10 .test/apt.log
    cp .test/apt.log ".test/apt-$1.log"
}

install_packages() {
    local groups=() group
    is_command cc || groups+=("gcc libc6-dev")
    find_postgres || groups+=(postgresql)
    python_makes_environments || groups+=("python3 python3-venv")
    has_node || groups+=("nodejs npm")
    is_command sftp || groups+=(openssh-client)
    is_command curl || groups+=(curl)
    is_command qpdf || groups+=(qpdf)
    is_command tesseract || groups+=(tesseract-ocr)
    is_command espeak-ng || groups+=(espeak-ng)
    is_command chromium || groups+=(chromium)
    if [[ ${#groups[@]} -eq 0 ]]; then return; fi
    if [[ $EUID -ne 0 ]] || ! is_command apt-get; then
        say "Not installed, because that takes root and apt-get: ${groups[*]}"
        return
    fi
    export DEBIAN_FRONTEND=noninteractive
    # An installation that was interrupted keeps every other from starting.
    if [[ -n $(dpkg --audit 2>/dev/null) ]]; then
        say "Finishing an interrupted installation (dpkg --configure -a)"
        run_apt dpkg --configure -a || tail -n 10 .test/apt.log
        run_apt apt-get install -y --fix-broken || tail -n 10 .test/apt.log
    fi
    if ! run_apt apt-get update; then
        say "apt-get update failed; what is known already is tried. Its last lines:"
        tail -n 10 .test/apt.log
    fi
    for group in "${groups[@]}"; do
        # The words of a group are packages.
        # shellcheck disable=SC2086
        install_group $group
    done
}

# Made again whenever the requirements or the interpreter change. Arguments: where, and the requirements.
make_environment() {
    local place=$1 requirements=$2 stamp
    stamp=$(cat "$requirements" <(python3 --version) | sha256sum)
    if [[ -f $place/stamp && $(<"$place/stamp") == "$stamp" ]]; then return; fi
    say "Installing $requirements into $place"
    rm -rf "$place"
    python3 -m venv "$place" &&
        "$place/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements" &&
        echo "$stamp" >"$place/stamp"
}

# Installs the packages of a folder into a place, again whenever they or Node change.
install_npm() {
    local folder=$1 place=$2 stamp
    stamp=$(cat "$folder"/package*.json <(node --version) | sha256sum)
    if [[ -f $place/stamp && $(<"$place/stamp") == "$stamp" ]]; then return; fi
    say "Installing $folder/package.json into $place"
    rm -rf "$place"
    mkdir "$place"
    cp "$folder"/package*.json "$place"
    npm ci --prefix "$place" --ignore-scripts --no-audit --no-fund --loglevel error && echo "$stamp" >"$place/stamp"
}

# The scripts are copied each time: they are what is worked on.
make_node_clients() {
    install_npm tools/clients "$NODE_CLIENTS" &&
        mkdir -p "$NODE_CLIENTS"/{sftp,hl7} && cp tools/clients/*.js "$NODE_CLIENTS" &&
        cp tools/clients/sftp/*.js "$NODE_CLIENTS/sftp" && cp tools/clients/hl7/*.js "$NODE_CLIENTS/hl7"
}

# What drives the browser; the browser itself is the distribution's.
make_browser() { install_npm tools/browser "$BROWSER" && cp tools/browser/*.js "$BROWSER"; }

# No registry that is sure to be reached has a binary of it, so it is built: some minutes, once.
install_nextest() {
    export PATH="$PWD/.test/cargo/bin:$PATH"
    is_command cargo-nextest && return
    say "Building cargo-nextest $NEXTEST_VERSION"
    cargo install cargo-nextest --version "$NEXTEST_VERSION" --locked --root .test/cargo \
        --no-default-features --features default-no-update
}

install_needs() {
    mkdir -p .test
    install_packages
    find_postgres || missing+=("PostgreSQL's server: every test on it was skipped")
    if ! python_makes_environments || ! make_environment "$VENV" tools/python-requirements.txt; then
        missing+=("Python with tools/python-requirements.txt: S3 tests, the contract test and the FHIR clients were skipped")
    fi
    if ! python_makes_environments || ! make_environment "$X12_VENV" tools/clients/x12/requirements.txt; then
        missing+=("Python with tools/clients/x12/requirements.txt: the X12 libraries were skipped")
    fi
    is_command espeak-ng || missing+=("espeak-ng: no call was made into a recording")
    if ! python_makes_environments || ! make_environment "$CDS_VENV" tools/clients/cds/requirements.txt; then
        missing+=("Python with tools/clients/cds/requirements.txt: the CDS Hooks service was skipped")
    fi
    is_command curl || missing+=("curl: the examples of the manual were not run")
    is_command sftp || missing+=("OpenSSH's sftp: it was not run against the SFTP server")
    if ! has_node || ! make_node_clients; then
        missing+=("Node with tools/clients/package.json: the FHIR client for Node was skipped")
    fi
    is_command qpdf && is_command tesseract || missing+=("qpdf or tesseract: what they say of rendered documents was not asked")
    if ! is_command chromium || ! has_node || ! make_browser; then
        missing+=("Chromium and Node with tools/browser/package.json: the portal was not walked through in a browser")
    fi
    install_nextest
}
