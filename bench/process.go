package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// roles are what this program does as a child of itself: its first argument
// names one, the others are the role's own.
var roles = map[string]func(args []string) error{
	"role-serve":    serveRole,
	"role-baseline": baselineRole,
	"role-load":     loadRole,
	"role-nats":     natsRole,
}

// stopTimeout bounds a clean stop of a child.
const stopTimeout = 30 * time.Second

// A process is a child that runs until it is stopped or killed, or the context
// ends that it was started with.
type process struct {
	cmd   *exec.Cmd
	log   string        // file with all it wrote
	ended chan struct{} // closed once it has ended
}

// start runs a role as a child.
func (b *bench) start(ctx context.Context, name, role string, args ...string) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return b.launch(name, exec.CommandContext(ctx, program, append([]string{role}, args...)...))
}

// launch runs a command as a child that writes its log to the running part's
// folder.
func (b *bench) launch(name string, cmd *exec.Cmd) (*process, error) {
	p := &process{
		cmd:   cmd,
		log:   filepath.Join(b.part, name+".log"),
		ended: make(chan struct{}),
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has its own
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if _, err := p.cmd.StdinPipe(); err != nil { // see endWithParent
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	b.children.Go(func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		close(p.ended)
	})
	return p, nil
}

// endWithParent ends a child whose parent has died without a chance to say so:
// its standard input closes then.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin) // an error says the same
	os.Exit(1)
}

// stop ends the process as an operator would.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return p.failed(err)
	}
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		p.kill()
		return p.failed(errors.New("it did not stop in time"))
	}
	if !p.cmd.ProcessState.Success() {
		return p.failed(errors.New(p.cmd.ProcessState.String()))
	}
	return nil
}

// kill ends the process without warning it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails if it has ended
	<-p.ended
}

// failed adds the end of the log to an error.
func (p *process) failed(err error) error {
	const most = 2000
	content, readErr := os.ReadFile(p.log)
	if readErr != nil {
		return err
	}
	return fmt.Errorf("%w; the end of its log:\n%s", err, content[max(0, len(content)-most):])
}
