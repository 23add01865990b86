// SPDX-License-Identifier: Apache-2.0
#include "common/json.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/harness.h"

TEST(json_puts_commas_and_brackets)
{
	static const char want[] = "{\"a\":[1,-2,null],\"b\":\"\\u0022\\u000a\","
		"\"c\":true,\"d\":{},\"e\":null,\"f\":[[],{}]}\n";
	struct buffer out = { 0 };
	struct json j = { .out = &out };
	char got[128] = "";
	FILE *to = fmemopen(got, sizeof(got), "w");

	json_open(&j, NULL, '{');
	json_open(&j, "a", '[');
	json_num(&j, NULL, 1);
	json_int(&j, NULL, -2);
	json_text(&j, NULL, NULL);
	json_close(&j, ']');
	json_text(&j, "b", "\"\n");
	json_bool(&j, "c", true);
	json_open(&j, "d", '{');
	json_close(&j, '}');
	json_null(&j, "e");
	json_open(&j, "f", '[');
	json_open(&j, NULL, '[');
	json_close(&j, ']');
	json_open(&j, NULL, '{');
	json_close(&j, '}');
	json_close(&j, ']');
	json_close(&j, '}');
	CHECK_EQ(json_finish(&j, to), 0);
	fclose(to);
	CHECK(!strcmp(got, want));
	CHECK(!out.data && !out.len);
}

static void is(struct buffer *out, const char *want)
{
	CHECK_EQ(out->len, strlen(want));
	CHECK(memcmp(out->data, want, out->len) == 0);
	free(out->data);
	*out = (struct buffer){ 0 };
}

TEST(json_lines_begin_where_they_are_asked_for)
{
	struct buffer out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, NULL, '[');
	json_line(&j);
	json_num(&j, NULL, 1);
	json_num(&j, NULL, 2);
	json_line(&j);
	json_num(&j, NULL, UINT64_MAX);
	json_line(&j);
	json_close(&j, ']');
	is(&out, "[\n1,2,\n18446744073709551615\n]");
}

TEST(json_millionths_have_six_decimals)
{
	struct buffer out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, NULL, '[');
	json_millionths(&j, NULL, 0);
	json_millionths(&j, NULL, 1000001);
	json_millionths(&j, NULL, UINT64_MAX);
	json_close(&j, ']');
	is(&out, "[0.000000,1.000001,18446744073709.551615]");
}

TEST(json_text_cannot_leave_its_element)
{
	struct buffer out = { 0 };
	struct json j = { .out = &out };

	json_text(&j, NULL, "</Script>&\"\\\x01\x7f\xff\xc3\xa9");
	is(&out, "\"\\u003c/Script\\u003e\\u0026\\u0022"
		 "\\u005c\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\"");
}

TEST(json_chars_takes_what_has_no_end)
{
	struct buffer out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, NULL, '{');
	json_chars(&j, "a<b", "x\0y", 3);
	json_chars(&j, "none", NULL, 0);
	json_close(&j, '}');
	is(&out, "{\"a\\u003cb\":\"x\\u0000y\",\"none\":\"\"}");
}
