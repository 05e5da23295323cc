package step_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const postgresPassword = "p0stgres-password"

// postgres is a real database, shared by all tests; the first one that needs it starts it. It is
// "" without an error if none is installed, and otherwise the URL of the database.
var postgres = sync.OnceValues(func() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if program, missing := exec.LookPath("initdb"); missing == nil {
		found = append(found, program)
	}
	if err != nil || len(found) == 0 {
		return "", err
	}
	programs := filepath.Dir(found[0])
	folder, err := os.MkdirTemp("", "postgres")
	if err != nil {
		return "", err
	}
	attributes := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 { // which it refuses to be
		nobody, err := user.Lookup("postgres")
		if err != nil {
			return "", err
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		if err := os.Chown(folder, uid, gid); err != nil {
			return "", err
		}
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	password := filepath.Join(folder, "password")
	if err := os.WriteFile(password, []byte(postgresPassword), 0o644); err != nil {
		return "", err
	}
	data := filepath.Join(folder, "data")
	initialize := exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-U", "sluice", "-A", "scram-sha-256", "--pwfile", password, "--no-sync", "-E", "UTF8")
	initialize.SysProcAttr, initialize.Dir = attributes, folder
	if out, err := initialize.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w: %s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	server := exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-p", strconv.Itoa(port), "-h", "127.0.0.1", "-k", "", "-F", "-c", "max_connections=60")
	server.SysProcAttr, server.Dir = attributes, folder
	if err := server.Start(); err != nil {
		return "", err
	}
	stopPostgres = func() {
		_ = server.Process.Signal(syscall.SIGQUIT)
		_ = server.Wait()
		_ = os.RemoveAll(folder)
	}
	url := fmt.Sprintf("postgres://sluice:%s@127.0.0.1:%d/postgres", postgresPassword, port)
	for end := time.Now().Add(time.Minute); ; {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return url, conn.Close()
		}
		if time.Now().After(end) {
			return "", err
		}
	}
})

// stopPostgres ends what postgres started.
var stopPostgres = func() {}

// database returns the URL of a real database, and a connection to look at it. Without one the
// test is skipped; TEST_POSTGRES demands one.
func database(t *testing.T) (string, *pgx.Conn) {
	t.Helper()
	url, err := postgres()
	switch {
	case err != nil:
		t.Fatal(err)
	case url == "" && os.Getenv("TEST_POSTGRES") != "":
		t.Fatal("there is no PostgreSQL, and TEST_POSTGRES demands one: install postgresql")
	case url == "":
		t.Skip("SKIPPED: there is no PostgreSQL; install postgresql")
	}
	for end := time.Now().Add(time.Minute); ; {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			t.Cleanup(func() { _ = conn.Close(t.Context()) })
			return url, conn
		}
		if time.Now().After(end) { // while it starts, it says so
			t.Fatal(err)
		}
	}
}
