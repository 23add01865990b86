// SPDX-License-Identifier: Apache-2.0
/* What a program is called, by the outermost frame of its language. */
#include "symbolizerd/knowledge/script.h"

#include <string.h>

#include "bpf/runtime.h"
#include "tests/unit/harness.h"

static char called[SCRIPT_MAX];

static enum script_answer python(const char *function, const char *file)
{
	memset(called, 'x', sizeof(called));
	return script_of(RUNTIME_PYTHON, function, file, called);
}

TEST(script_of_python_is_the_modules_file)
{
	CHECK_EQ(python("<module>", "/srv/app/job.py"), SCRIPT_FOUND);
	CHECK_STR(called, "job.py");
	CHECK_EQ(python("<module>", "job.py"), SCRIPT_FOUND);
	CHECK_STR(called, "job.py");
}

TEST(script_of_a_package_is_its_folder)
{
	CHECK_EQ(python("<module>", "/usr/lib/python3/dist-packages/gunicorn/__main__.py"), SCRIPT_FOUND);
	CHECK_STR(called, "gunicorn");
	CHECK_EQ(python("<module>", "pkg/__main__.py"), SCRIPT_FOUND);
	CHECK_STR(called, "pkg");
	/* of no folder */
	CHECK_EQ(python("<module>", "__main__.py"), SCRIPT_FOUND);
	CHECK_STR(called, "__main__.py");
	CHECK_EQ(python("<module>", "/__main__.py"), SCRIPT_FOUND);
	CHECK_STR(called, "__main__.py");
	CHECK_EQ(python("<module>", "//__main__.py"), SCRIPT_NONE);
}

TEST(script_is_below_what_runs_it)
{
	CHECK_EQ(python("_run_module_as_main", "<frozen runpy>"), SCRIPT_INNER);
	CHECK_EQ(python("_run_code", "/usr/lib/python3.9/runpy.py"), SCRIPT_INNER);
}

TEST(script_of_other_frames_is_none)
{
	CHECK_EQ(python("_bootstrap", "/usr/lib/python3.11/threading.py"), SCRIPT_NONE);
	CHECK_EQ(python("<module>", "<string>"), SCRIPT_NONE);
	CHECK_EQ(python("<module>", ""), SCRIPT_NONE);
	CHECK_EQ(python("<module>", "/srv/"), SCRIPT_NONE);
	CHECK_EQ(python("", "/srv/job.py"), SCRIPT_NONE);
	CHECK_EQ(script_of(RUNTIME_GO, "main.main", "main.go", called), SCRIPT_NONE);
	CHECK_EQ(script_of(RUNTIME_NONE, "", "", called), SCRIPT_NONE);
}

TEST(script_of_java_is_the_class)
{
	CHECK_EQ(script_of(RUNTIME_HOTSPOT, "org.apache.catalina.startup.Bootstrap.main", "Bootstrap.java",
			   called), SCRIPT_FOUND);
	CHECK_STR(called, "org.apache.catalina.startup.Bootstrap");
	CHECK_EQ(script_of(RUNTIME_HOTSPOT, "java.lang.Thread.run", "Thread.java", called), SCRIPT_NONE);
	CHECK_EQ(script_of(RUNTIME_HOTSPOT, "[JVM stub]", "", called), SCRIPT_INNER);
	CHECK_EQ(script_of(RUNTIME_HOTSPOT, ".main", "", called), SCRIPT_NONE);
	CHECK_EQ(script_of(RUNTIME_HOTSPOT, "main", "", called), SCRIPT_NONE);
}

TEST(script_that_is_long_is_cut_between_characters)
{
	char file[400] = "/srv/";

	memset(file + 5, 'n', 200);
	CHECK_EQ(python("<module>", file), SCRIPT_FOUND);
	CHECK_EQ(strlen(called), SCRIPT_MAX - 1);
	strcpy(file + 5 + SCRIPT_MAX - 2, "\xc3\xa4.py");
	CHECK_EQ(python("<module>", file), SCRIPT_FOUND);
	CHECK_EQ(strlen(called), SCRIPT_MAX - 2);
}
