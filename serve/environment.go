package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// isSetting reports whether a variable of the environment is a setting of the server, or
// has the credentials with which spans are sent.
func isSetting(name string) bool {
	return strings.HasPrefix(name, "SLUICE_") ||
		strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") && strings.HasSuffix(name, "HEADERS")
}

// forgetEnvironment removes the settings, which may be secrets, from the environment after
// they were read. On Linux, /proc/PID/environ shows the memory that the kernel has filled at
// the start, so they are overwritten there as well.
func forgetEnvironment() error {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); isSetting(name) {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	shown, err := os.ReadFile("/proc/self/environ")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another system
	}
	if err != nil {
		return err
	}
	at, err := environmentStart()
	if err != nil {
		return err
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	for variable := range bytes.SplitSeq(shown, []byte{0}) {
		if name, value, _ := bytes.Cut(variable, []byte("=")); isSetting(string(name)) {
			if _, err := memory.WriteAt(make([]byte, len(value)), at+int64(len(name)+1)); err != nil {
				return err
			}
		}
		at += int64(len(variable) + 1)
	}
	return nil
}

// environmentStart returns the address of the environment that the process was started with.
func environmentStart() (int64, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	const state, start = 3, 50 // numbers of fields, see proc_pid_stat(5)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= start-state {
		return 0, fmt.Errorf("/proc/self/stat has only %d fields", len(fields)+state-1)
	}
	return strconv.ParseInt(string(fields[start-state]), 10, 64)
}
