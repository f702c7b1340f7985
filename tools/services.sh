# Servers that the tests use. Each listens on a free loopback port and is gone when ./test ends, however it ends.
# Sourced by ./test.

# Short, because a socket's path may have only about a hundred characters; in /tmp, because PostgreSQL's own user must reach it.
work=$(mktemp -d /tmp/verial-test.XXXXXX)
chmod 755 "$work"
processes=()
trap stop_services EXIT
trap 'exit 130' INT TERM

stop_services() {
    local process
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    if [[ -f $work/postgres/postmaster.pid ]]; then
        as_database_user "$POSTGRES_BIN/pg_ctl" -D "$work/postgres" -m immediate stop >/dev/null || true
    fi
    rm -rf "$work"
}

# PostgreSQL refuses to run as root.
as_database_user() {
    if [[ $EUID -ne 0 ]]; then
        "$@"
    elif id postgres >/dev/null 2>&1; then
        (cd "$work" && runuser -u postgres -- "$@")
    else
        (cd "$work" && runuser -u nobody -- "$@")
    fi
}

start_postgres() {
    local port options
    mkdir -m 777 "$work/socket"
    install -d -m 777 "$work/postgres.parent" && ln -s postgres.parent/data "$work/postgres"
    as_database_user "$POSTGRES_BIN/initdb" --no-sync -A trust -U postgres -E UTF8 --locale C.UTF-8 \
        -D "$work/postgres.parent/data" >"$work/initdb.log"
    # It cannot choose a free port itself; one that is taken costs a try.
    for port in $(shuf -i 20000-32000 -n 10); do
        options="-p $port -k $work/socket -c listen_addresses=127.0.0.1 -c max_connections=300 -c fsync=off"
        if as_database_user "$POSTGRES_BIN/pg_ctl" -D "$work/postgres" -o "$options" -w -l "$work/socket/log" start >/dev/null; then
            export VERIAL_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres"
            return
        fi
    done
    cat "$work/socket/log"
    return 1
}
