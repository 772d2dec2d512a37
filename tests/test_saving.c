/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_saving.c - a session saves and loads its parameters: what is saved can be read by anybody
 * and comes back bit by bit; everything else is refused with a reason, and a file that is refused
 * changes nothing.
 */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/saved.h"

static int scene_open(void **state)
{
    return saved_open(state, NULL);
}

static const struct cavs_param *param(struct saved *a, const char *name)
{
    return cavs_model_find_param(a->t.model, name);
}

static void get(struct saved *a, float *w, float *b)
{
    check_ok(cavs_session_get_param(a->s, param(a, "W"), w));
    check_ok(cavs_session_get_param(a->s, param(a, "b"), b));
}

static const float odd_w[6] = {1.5f, -0.0f, 1e-42f, INFINITY, 3.4028235e38f, -7},
                   odd_b[3] = {0.1f, -INFINITY, 9};

static void set_odd_values(struct saved *a)
{
    check_ok(cavs_session_set_param(a->s, param(a, "W"), odd_w));
    check_ok(cavs_session_set_param(a->s, param(a, "b"), odd_b));
}

static void set_zeros(struct saved *a)
{
    const float zeros[6] = {0};
    check_ok(cavs_session_set_param(a->s, param(a, "W"), zeros));
    check_ok(cavs_session_set_param(a->s, param(a, "b"), zeros));
}

static void check_odd_values(struct saved *a)
{
    float w[6], b[3];
    get(a, w, b);
    assert_memory_equal(w, odd_w, sizeof w);
    assert_memory_equal(b, odd_b, sizeof b);
}

/* Files in the folder. */
static int entries(const struct saved *a)
{
    DIR *folder = opendir(a->folder);
    int n = 0;
    assert_non_null(folder);
    for (struct dirent *e = readdir(folder); e; e = readdir(folder))
        n += e->d_name[0] != '.';
    closedir(folder);
    return n;
}

/* A model file with this header and the values 0, 1, 2 ... 8. */
static void write_file(const char *path, const char *header)
{
    const float values[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    saved_write_model(path, header, values, sizeof values);
}

static void refused(struct saved *a, int code, const char *const *says)
{
    set_odd_values(a);
    check_refused_at(cavs_session_load(a->s, a->path), code, "cavs_session_load", __FILE__,
                     __LINE__, says);
    check_odd_values(a);
}

#define REFUSED(a, code, ...) refused((a), (code), (const char *const[]){__VA_ARGS__, NULL})

#define W_ENTRY "\"W\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}"
#define B_ENTRY "\"b\":{\"dtype\":\"F32\",\"shape\":[1,3],\"data_offsets\":[24,36]}"

/* ---- sound files ---- */

static void values_come_back_bit_by_bit(void **state)
{
    struct saved *a = *state;
    set_odd_values(a);
    check_ok(cavs_session_save(a->s, a->path));
    set_zeros(a);
    check_ok(cavs_session_load(a->s, a->path));
    check_odd_values(a);
}

static void file_is_safetensors(void **state)
{
    struct saved *a = *state;
    size_t n, header = 0;
    set_odd_values(a);
    check_ok(cavs_session_save(a->s, a->path));
    unsigned char *bytes = saved_read(a->path, &n);
    for (int i = 7; i >= 0; i--)
        header = header << 8 | bytes[i];
    assert_int_equal(n, 8 + header + 9 * 4);
    assert_int_equal(bytes[8], '{');
    assert_int_equal(header % 8, 0);
    bytes[8 + header] = 0;
    assert_non_null(strstr((char *)bytes + 8, "\"W\""));
    assert_non_null(strstr((char *)bytes + 8, "\"F32\""));
    assert_non_null(strstr((char *)bytes + 8, "[2,3]"));
    free(bytes);
}

static void file_by_hand_is_read(void **state)
{
    struct saved *a = *state;
    float w[6], b[3];
    write_file(a->path, "{\"__metadata__\":{\"by\":\"hand\"}," B_ENTRY "," W_ENTRY "}");
    check_ok(cavs_session_load(a->s, a->path));
    get(a, w, b);
    for (int i = 0; i < 6; i++)
        assert_true(w[i] == (float)i);
    for (int i = 0; i < 3; i++)
        assert_true(b[i] == (float)(6 + i));
}

/* Loading writes every copy that the library keeps: gradients after it are those of the loaded
 * values. */
static void loaded_values_are_used(void **state)
{
    struct saved *a = *state;
    write_file(a->path, "{" B_ENTRY "," W_ENTRY "}");
    check_ok(cavs_session_load(a->s, a->path));
    trial_check_gradients(&a->t, a->s, (int[]){0}, 1);
}

static void saving_replaces_the_file_and_leaves_nothing_else(void **state)
{
    struct saved *a = *state;
    saved_write(a->path, "old", 3);
    set_odd_values(a);
    check_ok(cavs_session_save(a->s, a->path));
    check_ok(cavs_session_save(a->s, a->path));
    set_zeros(a);
    check_ok(cavs_session_load(a->s, a->path));
    check_odd_values(a);
    assert_int_equal(entries(a), 1);
}

/* The link stays, and what it leads to is the model. */
static void saving_through_a_link(void **state)
{
    struct saved *a = *state;
    struct stat st;
    char link[96];
    snprintf(link, sizeof link, "%s/link", a->folder);
    saved_write(a->path, "old", 3);
    assert_int_equal(symlink("model", link), 0);
    set_odd_values(a);
    check_ok(cavs_session_save(a->s, link));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    set_zeros(a);
    check_ok(cavs_session_load(a->s, a->path));
    check_odd_values(a);
    unlink(link);
    assert_int_equal(entries(a), 1);
}

/* A link stands for the device: where devices are replaced, it is the link that goes. */
static void saving_into_devices(void **state)
{
    struct saved *a = *state;
    struct stat st;
    assert_int_equal(symlink("/dev/null", a->path), 0);
    check_ok(cavs_session_save(a->s, a->path));
    assert_int_equal(stat(a->path, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(unlink(a->path), 0);
    assert_int_equal(symlink("/dev/full", a->path), 0);
    check_refused(cavs_session_save(a->s, a->path), CAVS_EIO, a->path);
    assert_int_equal(stat(a->path, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(entries(a), 1);
}

/* Nobody can lead the writer elsewhere by a link under a name that he can guess. */
static void planted_links_are_not_followed(void **state)
{
    struct saved *a = *state;
    char victim[96], planted[128];
    size_t n;
    snprintf(victim, sizeof victim, "%s/victim", a->folder);
    snprintf(planted, sizeof planted, "%s.%ld.tmp", a->path, (long)getpid());
    saved_write(victim, "precious", 8);
    assert_int_equal(symlink("victim", planted), 0);
    check_ok(cavs_session_save(a->s, a->path));
    unsigned char *bytes = saved_read(victim, &n);
    assert_int_equal(n, 8);
    assert_memory_equal(bytes, "precious", 8);
    free(bytes);
    unlink(planted);
    unlink(victim);
}

static void training_goes_on_after_loading(void **state)
{
    struct saved *a = *state;
    const int batch[] = {0};
    float first[6], second[6], b[3];
    check_ok(cavs_session_save(a->s, a->path));
    check_ok(cavs_session_train(a->s, a->t.data, batch, 1));
    get(a, first, b);
    check_ok(cavs_session_load(a->s, a->path));
    check_ok(cavs_session_train(a->s, a->t.data, batch, 1));
    get(a, second, b);
    assert_memory_equal(first, second, sizeof first);
}

/* ---- files that are refused ---- */

static void every_truncation(void **state)
{
    struct saved *a = *state;
    size_t n;
    set_odd_values(a);
    check_ok(cavs_session_save(a->s, a->path));
    unsigned char *bytes = saved_read(a->path, &n);
    for (size_t length = 0; length < n; length++) {
        saved_write(a->path, bytes, length);
        REFUSED(a, CAVS_EFORMAT, a->path);
    }
    free(bytes);
}

static void foreign_files(void **state)
{
    struct saved *a = *state;
    static const char *const texts[] = {"This is not a model file, it is a sentence.",
                                        "MZ\x90\x01\x03 some other program", "{\"W\": [1, 2, 3]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        saved_write(a->path, texts[i], strlen(texts[i]));
        REFUSED(a, CAVS_EFORMAT, a->path);
    }
}

static void header_longer_than_any_file(void **state)
{
    struct saved *a = *state;
    const unsigned char huge[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, '{', '}'};
    const unsigned char negative[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, '{', '}'};
    saved_write(a->path, huge, sizeof huge);
    REFUSED(a, CAVS_EFORMAT, a->path);
    saved_write(a->path, negative, sizeof negative);
    REFUSED(a, CAVS_EFORMAT, a->path);
}

static void headers_that_are_no_objects(void **state)
{
    struct saved *a = *state;
    static const char *const headers[] = {"[1, 2]",
                                          "{\"W\": ",
                                          "12",
                                          "{\"W\":{\"dtype\":\"F32\"}," B_ENTRY "}",
                                          "{\"W\":7," B_ENTRY "}",
                                          "{\"W\":{\"dtype\":5,\"shape\":2}," B_ENTRY "}"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        write_file(a->path, headers[i]);
        REFUSED(a, CAVS_EFORMAT, a->path);
    }
}

static void unknown_name(void **state)
{
    write_file(((struct saved *)*state)->path,
               "{" W_ENTRY "," B_ENTRY
               ",\"stranger\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}");
    REFUSED(*state, CAVS_EFORMAT, "stranger");
}

static void missing_name(void **state)
{
    write_file(((struct saved *)*state)->path, "{" W_ENTRY "}");
    REFUSED(*state, CAVS_EFORMAT, "b", "missing");
}

static void other_shape(void **state)
{
    write_file(((struct saved *)*state)->path,
               "{\"W\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]}," B_ENTRY "}");
    REFUSED(*state, CAVS_ESHAPE, "W", "3 x 2", "2 x 3");
}

static void other_type(void **state)
{
    write_file(((struct saved *)*state)->path,
               "{\"W\":{\"dtype\":\"I32\",\"shape\":[2,3],\"data_offsets\":[0,24]}," B_ENTRY "}");
    REFUSED(*state, CAVS_EFORMAT, "W", "I32", "F32 is wanted");
}

static void byte_ranges_out_of_the_file(void **state)
{
    struct saved *a = *state;
    static const char *const ranges[] = {"[0,20]",
                                         "[-24,0]",
                                         "[24,0]",
                                         "[4000,4024]",
                                         "[9223372036854775783,9223372036854775807]",
                                         "[9223372036854775783,-9223372036854775808]"};
    char header[256];
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        snprintf(header, sizeof header,
                 "{\"W\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":%s}," B_ENTRY "}",
                 ranges[i]);
        write_file(a->path, header);
        REFUSED(a, CAVS_EFORMAT, "W");
    }
}

static void file_that_is_not_there(void **state)
{
    struct saved *a = *state;
    REFUSED(a, CAVS_EIO, a->path);
    check_refused(cavs_session_load(a->s, a->folder), CAVS_EFORMAT, a->folder, "is a folder");
    assert_true(cavs_session_load(a->s, NULL) < 0);
}

static void folder_that_is_not_there(void **state)
{
    struct saved *a = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/nowhere/model", a->folder);
    check_refused(cavs_session_save(a->s, path), CAVS_EIO, path);
    assert_true(cavs_session_save(a->s, a->folder) < 0);
    assert_true(cavs_session_save(a->s, NULL) < 0);
    assert_true(cavs_session_save(a->s, "") < 0);
}

/* A limit on the size of files stands for a full disk: the old file is still there afterwards. */
static void full_disk(void **state)
{
    struct saved *a = *state;
    struct rlimit limit, small;
    check_ok(cavs_session_save(a->s, a->path));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 64;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc = cavs_session_save(a->s, a->path);
    setrlimit(RLIMIT_FSIZE, &limit);
    check_refused(rc, CAVS_EIO, a->path);
    check_ok(cavs_session_load(a->s, a->path));
    assert_int_equal(entries(a), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scene_open, saved_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_come_back_bit_by_bit),
        TEST(file_is_safetensors),
        TEST(file_by_hand_is_read),
        TEST(loaded_values_are_used),
        TEST(saving_replaces_the_file_and_leaves_nothing_else),
        TEST(saving_through_a_link),
        TEST(saving_into_devices),
        TEST(planted_links_are_not_followed),
        TEST(training_goes_on_after_loading),
        TEST(every_truncation),
        TEST(foreign_files),
        TEST(header_longer_than_any_file),
        TEST(headers_that_are_no_objects),
        TEST(unknown_name),
        TEST(missing_name),
        TEST(other_shape),
        TEST(other_type),
        TEST(byte_ranges_out_of_the_file),
        TEST(file_that_is_not_there),
        TEST(folder_that_is_not_there),
        TEST(full_disk),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, trial_runtime_up, trial_runtime_down);
}
