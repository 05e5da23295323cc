package main

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// command returns a command in a process group of its own: an interrupt from
// the terminal is for this program, which then ends the others in order.
func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// partCommand returns a command that runs a part of this program.
func partCommand(args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return command(program, args...), nil
}

// endWithParent ends a part when the program that started it has gone, however
// that came about: its standard input then ends.
func endWithParent() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}

// A tail keeps the last that was written to it.
type tail struct{ text []byte }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	const most = 2 << 10
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(p), nil
}
