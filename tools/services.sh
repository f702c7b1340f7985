# Servers for the tests. Each listens on a free loopback port and is gone when ./test ends, however it ends.
# Sourced by ./test.

# In /tmp by name: PostgreSQL's own user must reach it, and the path of a socket must be short.
work=$(mktemp -d /tmp/verial-test.XXXXXX)
chmod 755 "$work"
processes=()

stop_services() {
    local process
    for process in "${processes[@]}"; do
        kill "$process" 2>/dev/null && wait "$process" || true
    done
    if [[ -f $work/postgres/data/postmaster.pid ]]; then
        as_database_user "$POSTGRES_BIN/pg_ctl" -D "$work/postgres/data" -m immediate stop >/dev/null || true
    fi
    rm -rf "$work"
}

# PostgreSQL refuses to run as root.
database_user() { if id postgres &>/dev/null; then echo postgres; else echo nobody; fi; }

as_database_user() {
    if [[ $EUID -ne 0 ]]; then "$@"; else (cd "$work" && runuser -u "$(database_user)" -- "$@"); fi
}

start_postgres() {
    local home=$work/postgres port options
    mkdir "$home"
    if [[ $EUID -eq 0 ]]; then chown "$(database_user)" "$home"; fi
    as_database_user "$POSTGRES_BIN/initdb" --no-sync -A trust -U postgres -E UTF8 --locale C -D "$home/data" >"$work/initdb.log"
    # It cannot choose a free port itself; one that is taken costs a try.
    for port in $(shuf -i 20000-32000 -n 10); do
        options="-p $port -k $home -c listen_addresses=127.0.0.1 -c max_connections=300 -c fsync=off"
        if as_database_user "$POSTGRES_BIN/pg_ctl" -D "$home/data" -o "$options" -l "$home/log" -w start >/dev/null; then
            export VERIAL_TEST_POSTGRES=postgres://postgres@127.0.0.1:$port/postgres
            return
        fi
    done
    cat "$home/log" >&2
    return 1
}

# The address of a new database of that name.
new_database() {
    "$POSTGRES_BIN/createdb" --maintenance-db "$VERIAL_TEST_POSTGRES" "$1" && echo "${VERIAL_TEST_POSTGRES%/postgres}/$1"
}

start_s3() {
    "$VENV/bin/moto_server" -H 127.0.0.1 -p 0 &>"$work/s3.log" &
    processes+=($!)
    VERIAL_TEST_S3=$(wait_for "$work/s3.log" 'http://127\.0\.0\.1:[0-9]+')
    export VERIAL_TEST_S3
    # As an operator would set them: the server and the store's tests read no other settings for S3.
    export AWS_ENDPOINT_URL=$VERIAL_TEST_S3 AWS_ALLOW_HTTP=true AWS_REGION=us-east-1
    export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
}

# Arguments: those of `verial serve`. Sets verial_url and verial_key.
start_verial() {
    # Before it starts: what the one before it has printed must not be taken for its address.
    : >"$work/verial.out"
    "${CARGO_TARGET_DIR:-target}/debug/verial" serve --listen 127.0.0.1:0 "$@" >"$work/verial.out" 2>"$work/verial.log" &
    processes+=($!)
    verial_url=$(wait_for "$work/verial.out" 'http://127\.0\.0\.1:[0-9]+')
    verial_key=$(wait_for "$work/verial.out" 'vk_[0-9A-Za-z]+')
}

# It was the last to start, and it must end well when it is asked to.
stop_verial() {
    kill "${processes[-1]}"
    wait "${processes[-1]}"
    unset 'processes[-1]'
}

# The first part of a server's output that matches, once it is there.
wait_for() {
    local file=$1 pattern=$2
    for _ in {1..300}; do
        if grep -soEm1 "$pattern" "$file" | head -n1; then return; fi
        sleep 0.1
    done
    cat "$file" >&2
    return 1
}
