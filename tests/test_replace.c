/* SPDX-License-Identifier: Apache-2.0 */
/* test_replace.c - files that take their place in one step, whatever is there already. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/cavs.h"
#include "core/base/replace.h"
#include "tests/skip.h"

static char folder[64];
static char here[4096];

/* Each test works in a folder of its own, as the present one. */
static int set_up(void **state)
{
    (void)state;
    umask(022);
    snprintf(folder, sizeof folder, "/tmp/cavs-replace-XXXXXX");
    return getcwd(here, sizeof here) && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static void empty(const char *path)
{
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            unlinkat(dirfd(d), e->d_name, 0) != 0)
            unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
}

static int tear_down(void **state)
{
    (void)state;
    if (access("sub", F_OK) == 0) {
        chmod("sub", 0700);
        empty("sub");
    }
    empty(".");
    return chdir(here) == 0 ? rmdir(folder) : -1;
}

static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void holds(const char *path, const char *text)
{
    char got[64] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(got, 1, sizeof got - 1, f) < sizeof got);
    fclose(f);
    assert_string_equal(got, text);
}

static struct cavs_file *written(const char *path, const char *text)
{
    struct cavs_file *file = NULL;
    if (cavs_file_create(path, &file) != CAVS_OK)
        fail_msg("%s", cavs_error_message());
    fputs(text, cavs_file_stream(file));
    return file;
}

static int replace(const char *path, const char *text)
{
    struct cavs__replacement r;
    int rc = cavs__replace_open(&r, path);
    if (rc)
        return rc;
    fputs(text, r.file);
    return cavs__replace_commit(&r);
}

static mode_t mode(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

static void leads_to(const char *link, const char *target)
{
    char text[64] = "";
    assert_true(readlink(link, text, sizeof text - 1) > 0);
    assert_string_equal(text, target);
}

#define CHECK(rc)                                          \
    do {                                                   \
        if ((rc) != 0)                                     \
            fail_msg("%s: %s", #rc, cavs_error_message()); \
    } while (0)

static void refused(int rc, const char *path)
{
    assert_int_equal(rc, CAVS_EIO);
    if (!strstr(cavs_error_message(), path) || strstr(cavs_error_message(), ".cavs-"))
        fail_msg("'%s' should name %s alone", cavs_error_message(), path);
}

/* ---- replacing ---- */

static void new_file_is_as_the_mask_says(void **state)
{
    (void)state;
    umask(027);
    CHECK(replace("f", "one"));
    holds("f", "one");
    assert_int_equal(mode("f"), 0640);
    assert_int_equal(entries("."), 1);
}

static void permissions_of_the_old_file_stay(void **state)
{
    (void)state;
    put("f", "old");
    assert_int_equal(chmod("f", 0604), 0);
    CHECK(replace("f", "new"));
    holds("f", "new");
    assert_int_equal(mode("f"), 0604);
}

static void old_file_stays_until_the_end(void **state)
{
    struct cavs__replacement r;
    (void)state;
    put("f", "old");
    CHECK(cavs__replace_open(&r, "f"));
    fputs("half", r.file);
    fflush(r.file);
    holds("f", "old");
    assert_int_equal(mode(r.temporary) & 077, 044); /* as f, which was made with the mask 022 */
    cavs__replace_cancel(&r);
    holds("f", "old");
    assert_int_equal(entries("."), 1);
}

static void link_stays_and_its_file_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0755), 0);
    put("sub/f", "old");
    assert_int_equal(symlink("f", "sub/near"), 0);
    assert_int_equal(symlink("sub/near", "far"), 0);
    CHECK(replace("far", "new"));
    leads_to("far", "sub/near");
    leads_to("sub/near", "f");
    holds("sub/f", "new");
    assert_int_equal(entries("sub"), 2);
    assert_int_equal(entries("."), 2);
}

static void link_to_what_is_not_there_yet(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0755), 0);
    assert_int_equal(symlink("sub/f", "link"), 0);
    CHECK(cavs_file_writable("link"));
    CHECK(replace("link", "new"));
    leads_to("link", "sub/f");
    holds("sub/f", "new");
}

static void links_in_a_circle(void **state)
{
    (void)state;
    assert_int_equal(symlink("a", "b"), 0);
    assert_int_equal(symlink("b", "a"), 0);
    refused(replace("a", "x"), "a");
    refused(cavs_file_writable("a"), "a");
}

static void pipe_is_written_into(void **state)
{
    char got[8] = "";
    struct stat st;
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    CHECK(replace("pipe", "text"));
    assert_int_equal(read(reader, got, sizeof got), 4);
    assert_string_equal(got, "text");
    close(reader);
    assert_int_equal(stat("pipe", &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(entries("."), 1);
}

static void device_that_takes_nothing_is_an_error(void **state)
{
    struct stat st;
    (void)state;
    if (stat("/dev/full", &st) != 0 || !S_ISCHR(st.st_mode))
        SKIP("no /dev/full here");
    assert_int_equal(symlink("/dev/full", "full"), 0);
    refused(replace("full", "text"), "full");
    assert_non_null(strstr(cavs_error_message(), strerror(ENOSPC)));
    leads_to("full", "/dev/full");
    assert_int_equal(entries("."), 1);
}

/* By its number, as /dev/stdout leads to it. */
static void open_file_is_written_into(void **state)
{
    char name[64];
    (void)state;
    int fd = open("f", O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "old", 3), 3);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (access(name, F_OK) != 0)
        SKIP("no /proc here");
    CHECK(cavs_file_writable(name));
    CHECK(replace(name, "new"));
    close(fd);
    holds("f", "oldnew");
    assert_int_equal(entries("."), 1);
}

static void folders_and_missing_folders(void **state)
{
    static const char *const paths[] = {"sub", "sub/", "none/f", "none/", "sub/f/g", "full/f"};
    (void)state;
    assert_int_equal(mkdir("sub", 0755), 0);
    put("sub/f", "");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        refused(replace(paths[i], "x"), paths[i]);
        refused(cavs_file_writable(paths[i]), paths[i]);
    }
    assert_int_equal(entries("."), 1);
    assert_int_equal(entries("sub"), 1);
}

/* ---- what was left behind ---- */

static void age(const char *path, time_t seconds)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void leftovers_go_and_nothing_else(void **state)
{
    static const char *const kept[] = {"f.backup.tmp", "f.cavs-abcdefg.tmp", "g.cavs-abcdefgh.tmp",
                                       "f.cavs-abcdefgh.tmp~", "f.cavs-young222.tmp"};
    (void)state;
    put("f.cavs-abcdefgh.tmp", "half");
    age("f.cavs-abcdefgh.tmp", 3600);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        put(kept[i], "");
        if (!strstr(kept[i], "young"))
            age(kept[i], 3600);
    }
    CHECK(replace("f", "new"));
    assert_int_equal(access("f.cavs-abcdefgh.tmp", F_OK), -1);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_int_equal(access(kept[i], F_OK), 0);
}

static void what_somebody_is_writing_stays(void **state)
{
    struct cavs__replacement slow;
    (void)state;
    CHECK(cavs__replace_open(&slow, "f"));
    age(slow.temporary, 3600);
    CHECK(replace("f", "quick"));
    holds("f", "quick");
    fputs("slow", slow.file);
    CHECK(cavs__replace_commit(&slow));
    holds("f", "slow");
    assert_int_equal(entries("."), 1);
}

static void link_with_a_leftovers_name_is_not_followed(void **state)
{
    (void)state;
    put("victim", "precious");
    age("victim", 3600);
    assert_int_equal(symlink("victim", "f.cavs-abcdefgh.tmp"), 0);
    CHECK(replace("f", "new"));
    holds("victim", "precious");
}

/* ---- asking before ---- */

static void asking_changes_nothing(void **state)
{
    struct stat before, after;
    (void)state;
    put("f", "old");
    assert_int_equal(stat("f", &before), 0);
    CHECK(cavs_file_writable("f"));
    CHECK(cavs_file_writable("new"));
    assert_int_equal(stat("f", &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(entries("."), 1);
}

/* Nobody reads: opening it would wait for ever. */
static void asking_does_not_open_pipes(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    CHECK(cavs_file_writable("pipe"));
    CHECK(cavs_file_writable("/dev/null"));
}

static void folder_without_permission(void **state)
{
    (void)state;
    if (geteuid() == 0)
        SKIP("root may write everywhere");
    assert_int_equal(mkdir("sub", 0500), 0);
    refused(cavs_file_writable("sub/f"), "sub/f");
    refused(replace("sub/f", "x"), "sub/f");
}

/* Where the kernel itself refuses, root is refused, too. */
static void folder_that_takes_no_files(void **state)
{
    (void)state;
    if (access("/proc/self", F_OK) != 0)
        SKIP("no /proc here");
    refused(cavs_file_writable("/proc/self/f"), "/proc/self/f");
    refused(cavs_file_writable("/proc/f"), "/proc/f");
}

/* In a name space of its own; 77: there is none for us. */
static int try_mounted_file(void)
{
    if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("elsewhere", "f", NULL, MS_BIND, NULL) != 0)
        return 77;
    if (cavs_file_writable("f") != CAVS_EIO || !strstr(cavs_error_message(), "mount point"))
        return 1;
    if (replace("f", "new") != CAVS_EIO || !strstr(cavs_error_message(), "mount point"))
        return 2;
    if (replace("link", "new") != CAVS_EIO || entries(".") != 3)
        return 3;
    return umount("f") == 0 && replace("f", "new") == 0 ? 0 : 4;
}

/* As containers have them: nothing can be renamed onto it. */
static void file_that_is_a_mount_point(void **state)
{
    int status = 0;
    pid_t child;
    (void)state;
    put("f", "under");
    put("elsewhere", "old");
    assert_int_equal(symlink("f", "link"), 0);
    child = fork();
    if (child == 0)
        _exit(try_mounted_file());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        SKIP("no mounts for this user");
    assert_int_equal(WEXITSTATUS(status), 0);
    holds("elsewhere", "old");
    holds("f", "new");
}

static void no_path(void **state)
{
    (void)state;
    assert_int_equal(cavs_file_writable(NULL), CAVS_EINVAL);
    assert_int_equal(cavs_file_writable(""), CAVS_EINVAL);
}

static void scratch_file_has_no_name(void **state)
{
    (void)state;
    int fd = cavs__scratch_file("f");
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "text", 4), 4);
    assert_int_equal(entries("."), 0);
    close(fd);
    refused(cavs__scratch_file("none/f"), "none/f");
    fd = cavs__scratch_file("/dev/null"); /* not in /dev */
    assert_true(fd >= 0);
    close(fd);
}

/* ---- files of the caller's ---- */

static void file_that_is_not_committed_leaves_the_old_one(void **state)
{
    (void)state;
    put("f", "old");
    CHECK(cavs_file_close(written("f", "new")));
    holds("f", "old");
    assert_int_equal(entries("."), 1);
}

static void more_is_written_after_a_commit(void **state)
{
    (void)state;
    put("f", "old");
    struct cavs_file *file = written("f", "first ");
    holds("f", "old");
    CHECK(cavs_file_commit(file));
    holds("f", "first ");
    assert_int_equal(entries("."), 1);
    fputs("second ", cavs_file_stream(file));
    CHECK(cavs_file_commit(file));
    holds("f", "first second ");
    fputs("third", cavs_file_stream(file));
    CHECK(cavs_file_close(file));
    holds("f", "first second third");
}

/* beyond the most that a file may have, in the place of a full disk */
static void commit_without_room_leaves_the_old_file(void **state)
{
    (void)state;
    struct rlimit limit, small;
    put("f", "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct cavs_file *file = written("f", "new");
    small = (struct rlimit){.rlim_cur = 2, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc = cavs_file_commit(file);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    refused(rc, "f");
    CHECK(cavs_file_close(file));
    holds("f", "old");
    assert_int_equal(entries("."), 1);
}

static void what_is_lost_after_a_commit_is_an_error_at_the_end(void **state)
{
    (void)state;
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct cavs_file *file = written("f", "new");
    CHECK(cavs_file_commit(file));
    fputs("er", cavs_file_stream(file));
    small = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc = cavs_file_close(file);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    refused(rc, "f");
    holds("f", "new");
}

static void what_a_device_does_not_take_is_an_error_at_the_end(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        SKIP("no /dev/full here");
    refused(cavs_file_close(written("/dev/full", "text")), "/dev/full");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(new_file_is_as_the_mask_says),
        TEST(permissions_of_the_old_file_stay),
        TEST(old_file_stays_until_the_end),
        TEST(link_stays_and_its_file_is_replaced),
        TEST(link_to_what_is_not_there_yet),
        TEST(links_in_a_circle),
        TEST(pipe_is_written_into),
        TEST(device_that_takes_nothing_is_an_error),
        TEST(open_file_is_written_into),
        TEST(folders_and_missing_folders),
        TEST(leftovers_go_and_nothing_else),
        TEST(what_somebody_is_writing_stays),
        TEST(link_with_a_leftovers_name_is_not_followed),
        TEST(asking_changes_nothing),
        TEST(asking_does_not_open_pipes),
        TEST(folder_without_permission),
        TEST(folder_that_takes_no_files),
        TEST(file_that_is_a_mount_point),
        TEST(no_path),
        TEST(scratch_file_has_no_name),
        TEST(file_that_is_not_committed_leaves_the_old_one),
        TEST(more_is_written_after_a_commit),
        TEST(commit_without_room_leaves_the_old_file),
        TEST(what_is_lost_after_a_commit_is_an_error_at_the_end),
        TEST(what_a_device_does_not_take_is_an_error_at_the_end),
    };
    return cmocka_run_group_tests_name("replace", tests, NULL, NULL);
}
