package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A group is a control group with a bound on memory, of either version.
type group struct{ path string }

// newGroup makes a group that has so much memory.
func newGroup(bytes int64) (*group, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("it needs root, to give a server a memory of its own")
	}
	name := fmt.Sprintf("sluice-siege-%d", os.Getpid())
	for _, version := range []struct{ top, needs, bound string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.max"},
	} {
		g := &group{filepath.Join(version.top, name)}
		if os.Mkdir(g.path, 0o755) != nil {
			continue
		}
		err := os.WriteFile(filepath.Join(g.path, version.bound), []byte(strconv.FormatInt(bytes, 10)), 0)
		if err == nil {
			// Otherwise a swap would hide what a server takes; not all have one.
			_ = os.WriteFile(filepath.Join(g.path, "memory.swap.max"), []byte("0"), 0)
			return g, nil
		}
		g.remove()
	}
	return nil, errors.New("this machine has no control groups for memory that can be written")
}

// isInMemory reports whether what a folder holds counts as memory of a group.
func isInMemory(dir string) bool {
	const tmpfs = 0x01021994
	var disk syscall.Statfs_t
	return syscall.Statfs(dir, &disk) == nil && disk.Type == tmpfs
}

// add puts a process into the group.
func (g *group) add(pid int) error {
	return os.WriteFile(filepath.Join(g.path, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
}

// remove removes the group, once the processes in it have gone.
func (g *group) remove() { _ = os.Remove(g.path) }

// awaitGroup waits until this process is in a group.
func awaitGroup(path string) error {
	for range 1000 {
		members, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil {
			return err
		}
		if bytes.Contains(append([]byte("\n"), members...), []byte("\n"+strconv.Itoa(os.Getpid())+"\n")) {
			return nil
		}
		time.Sleep(pause)
	}
	return errors.New("the server's process is in no group")
}

// resident returns the memory that a server has now, and peak the most it has had
// since resetPeak, in bytes.
func (s *server) resident() int64 { return s.status("VmRSS:") }
func (s *server) peak() int64     { return s.status("VmHWM:") }

func (s *server) resetPeak() {
	const resetPeak = "5"
	// it has ended, otherwise
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.cmd.Process.Pid), []byte(resetPeak), 0)
}

func (s *server) status(field string) int64 {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid)) // it has ended, otherwise
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == field {
			kibibytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kibibytes << 10
		}
	}
	return 0
}
