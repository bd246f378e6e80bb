#!/usr/bin/env bash
# Set up everything that auditbook needs, once: system packages, a virtual environment in .venv, locked versions.
# Usage: tools/setup.sh [book|test]     "test" adds the browser in which the pages are checked, and a database server.
set -euo pipefail
cd "$(dirname "$0")/.."
purpose=${1:-book}

stamp=.venv/.complete-$purpose
state=$(cat requirements.lock pyproject.toml tools/setup.sh | sha256sum | cut -d' ' -f1)
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$state" ]; then exit 0; fi

packages="python3 python3-venv python3-graph-tool libgomp1 libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
[ "$purpose" != test ] || packages="$packages chromium chromium-driver postgresql"

install_packages() {
    local missing="" run=""
    for package in $packages; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "setup: these Debian packages are missing and need an administrator:$missing" >&2
            echo "setup: going on without them; what they serve will say that it cannot run" >&2
            return 0
        fi
        run=sudo
    fi
    echo "setup: installing Debian packages:$missing"
    # Lists that are a little old still serve; a failed refresh shows itself in the line after it.
    $run apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive $run apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# Where Python is complete already, the system packages come in beside the environment, which takes as long.
system=""
if command -v apt-get >/dev/null; then
    if python3 -c 'import ensurepip, venv' 2>/dev/null; then
        install_packages &
        system=$!
    else
        install_packages
    fi
fi

find_python() {
    # Debian's own interpreter first: its graph-tool is built for it.
    for candidate in /usr/bin/python3 python3.11 python3; do
        if command -v "$candidate" >/dev/null &&
            [ "$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" = 3.11 ]; then
            command -v "$candidate"
            return 0
        fi
    done
    echo "setup: no Python 3.11 found; install it, or use environment.yml with conda" >&2
    return 1
}

python=$(find_python)
if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
    echo "setup: making the virtual environment in .venv"
    rm -rf .venv
    "$python" -m venv .venv
fi
rm -f .venv/.complete-*

echo "setup: installing the locked versions (a few minutes the first time)"
install() {
    local said
    # A module is compiled when it is first imported, which most of what is installed never is.
    if ! said=$(.venv/bin/python -m pip install --quiet --no-deps --no-compile "$@" 2>&1); then
        printf '%s\n' "$said" >&2
        echo "setup: pip could not install; see above" >&2
        return 1
    fi
}
install --requirement requirements.lock
install --no-build-isolation --editable .
.venv/bin/python -c '
import auditbook.run.chapters, auditbook.studies, catboost, ipykernel.kernelapp, jupyter_book.sphinx, lightgbm
import matplotlib.pyplot, myst_nb, statsmodels.api, xgboost'
[ -z "$system" ] || wait "$system"

# graph-tool is not on the Python package index: put that one package of Debian's on the path, and nothing else of it.
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
if [ -d /usr/lib/python3/dist-packages/graph_tool ]; then
    ln -sfn /usr/lib/python3/dist-packages/graph_tool "$site/graph_tool"
else
    echo "setup: graph-tool is not there; everything but the stochastic block model works without it"
fi

# JupyterLab opens the chapters, which are Markdown files, as notebooks.
mkdir -p .venv/share/jupyter/lab/settings
cat >.venv/share/jupyter/lab/settings/overrides.json <<'JSON'
{
  "@jupyterlab/docmanager-extension:plugin": {
    "defaultViewers": {"markdown": "Jupytext Notebook", "myst": "Jupytext Notebook"}
  }
}
JSON

# The browser packages come with the system, so setting up for tests includes setting up for the book.
printf '%s' "$state" >.venv/.complete-book
printf '%s' "$state" >"$stamp"
echo "setup: done"
