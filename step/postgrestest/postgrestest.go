// Package postgrestest starts a real PostgreSQL for tests and for figures, in a folder of its own.
package postgrestest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Password is that of the user of the database.
const Password = "p0stgres-password"

// A Server is a database that runs.
type Server struct {
	URL string

	folder  string
	process *exec.Cmd
}

// Programs returns the folder of the database's programs, "" if none is installed.
func Programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is fine
	if program, err := exec.LookPath("initdb"); err == nil {
		found = append(found, program)
	}
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

// Start starts a server in a folder within dir. It is nil without an error if none is installed.
func Start(dir string) (s *Server, err error) {
	programs := Programs()
	if programs == "" {
		return nil, nil
	}
	s = &Server{}
	if s.folder, err = os.MkdirTemp(dir, "postgres"); err != nil {
		return nil, err
	}
	attributes, err := s.attributes()
	if err != nil {
		return nil, err
	}
	password, data := filepath.Join(s.folder, "password"), filepath.Join(s.folder, "data")
	if err := os.WriteFile(password, []byte(Password), 0o644); err != nil {
		return nil, err
	}

	initialize := exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-U", "sluice", "-A", "scram-sha-256",
		"--pwfile", password, "--no-sync", "-E", "UTF8")
	initialize.SysProcAttr, initialize.Dir = attributes, s.folder
	if out, err := initialize.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().(*net.TCPAddr)
	_ = free.Close()
	s.process = exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-p", strconv.Itoa(address.Port),
		"-h", "127.0.0.1", "-k", "", "-F", "-c", "max_connections=60")
	s.process.SysProcAttr, s.process.Dir = attributes, s.folder
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	s.URL = fmt.Sprintf("postgres://sluice:%s@%s/postgres", Password, address)
	return s, awaitListener(address.String())
}

// attributes returns those of a process of a user other than root, who may use the folder.
func (s *Server) attributes() (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(other.Uid)
	gid, _ := strconv.Atoi(other.Gid)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}},
		os.Chown(s.folder, uid, gid)
}

// awaitListener waits until somebody listens. Then the server may still say that it starts.
func awaitListener(address string) error {
	for end := time.Now().Add(time.Minute); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(end) {
			return err
		}
	}
}

// Stop ends the server, and removes what it has stored.
func (s *Server) Stop() {
	_ = s.process.Process.Signal(syscall.SIGQUIT)
	_ = s.process.Wait()
	_ = os.RemoveAll(s.folder)
}
