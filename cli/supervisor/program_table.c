// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/program_table.h"

#include <stddef.h>

#include "cli/supervisor/runtime_dir.h"

const struct program_row program_table[PROGRAM__COUNT] = {
	[PROGRAM_HUB] = {
		.name = "trifold-symbolizerd", .output = 2,
		.uids = {
			{ "--loader-uid", PROGRAM_LOADER },
			{ "--exporter-uid", PROGRAM_EXPORTER },
			{ "--viewer-uid", PROGRAM_VIEWER },
		},
		.words = {
			"--debug", "--interval=", "--cpu-share=", "--lines-share=",
			"--always-on", "--own=", "--debuginfod", "--include-self", "--show-loops",
		},
	},
	[PROGRAM_EXPORTER] = {
		.name = "trifold-exporterd", .output = 2, .hub = EXPORT_SOCKET,
		.uids = { { "--hub-uid", PROGRAM_HUB } }, .fds = 1,
		.words = {
			"--debug", "--no-network", "--no-receiver", "--recorder-fd=3",
			"--endpoint=", "OTEL_", "TRIFOLD_EXPORTER_",
			"TRIFOLD_RESOURCE_", "TRIFOLD_DEBUGINFOD_", "DEBUGINFOD_URLS=", "SSL_CERT_FILE=",
			"SSL_CERT_DIR=", "http_proxy=", "https_proxy=", "all_proxy=",
			"no_proxy=", "HTTP_PROXY=", "HTTPS_PROXY=", "ALL_PROXY=",
			"NO_PROXY=",
		},
	},
	[PROGRAM_LOADER] = {
		.name = "trifold-loaderd", .output = 2, .hub = LOADER_SOCKET,
		.uids = { { "--hub-uid", PROGRAM_HUB } },
		.words = {
			"--debug", "--frequency=", "--table-budget=", "--idle=",
			"--filter-pid=", "--filter-below=", "--filter-cgroup=",
		},
	},
	[PROGRAM_VIEWER] = {
		.name = "trifold-viewer", .output = 2, .hub = STATUS_SOCKET,
		.uids = { { "--hub-uid", PROGRAM_HUB } }, .fds = 2,
		.words = {
			"--debug", "--listen-fd=3", "--listen-fd=4", "--memory=",
			"--keep=", "--otlp", "TRIFOLD_VIEWER_KEY=",
		},
	},
	[PROGRAM_RECORDER] = {
		.name = "trifold-recorder", .output = 1, .fds = 1,
		.words = {
			"--control-fd=3", "--frequency=", "--format=", "--command=",
			"--output=trifold.", "--part", "--names=", "--lines",
			"--inlined", "--no-placeholders",
		},
	},
	[PROGRAM_READER] = { .name = "trifold-reader", .output = 2, .fds = 1 },
	[PROGRAM_LAUNCHER] = { .name = "trifold-launch", .fds = 1 },
	[PROGRAM_FRONT] = { .name = "trifold-front" },
};
