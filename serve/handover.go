package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"sluice/closed"
	"sluice/config"
	"sluice/wait"
)

// A program that is replaced and its successor tell each other how far they are.
const (
	prepared = "prepared" // the successor has read its settings
	goAhead  = "go"       // the data folder and the socket are free
	inPlace  = "ready"    // the successor takes calls
)

const (
	prepareTimeout = 10 * time.Second // for the successor to read its settings
	readyTimeout   = 30 * time.Second // for it to take calls: callers wait meanwhile
)

// A neighbour is the other program in a hand-over.
type neighbour struct {
	conn net.Conn
	from *bufio.Reader

	// Of a successor.
	process *os.Process
	socket  *os.File // keeps the kernel from refusing callers, and is for the next server here if the successor fails
}

func (n *neighbour) say(word string) error {
	_, err := io.WriteString(n.conn, word+"\n")
	return err
}

// hear waits for a word. It fails at once when the neighbour ends.
func (n *neighbour) hear(ctx context.Context, word string) error {
	stop := context.AfterFunc(ctx, func() { _ = n.conn.Close() })
	defer stop()
	line, err := n.from.ReadString('\n')
	switch line = strings.TrimSpace(line); {
	case ctx.Err() != nil:
		return fmt.Errorf("no %q from it in time: %w", word, ctx.Err())
	case errors.Is(err, io.EOF):
		return fmt.Errorf("it ended before it said %q; its own messages say why", word)
	case err == nil && line != word:
		return fmt.Errorf("it said %q instead of %q", line, word)
	}
	return err
}

// end ends a successor that failed.
func (n *neighbour) end() {
	_ = n.conn.Close()
	_ = n.process.Kill() // it may have ended
	_, _ = n.process.Wait()
}

// A process runs a server, and another one if a successor fails.
type process struct {
	Options

	cfg     config.Config
	out     io.Writer
	environ []string         // with the settings, for a successor
	signals <-chan os.Signal // each asks for a hand-over
	before  *neighbour       // the program that this one replaces; nil: none
	manager supervisor
	current atomic.Pointer[Server]
}

// run serves until ctx ends or a successor has taken over.
func (p *process) run(ctx context.Context) error {
	for {
		s, err := Start(ctx, p.cfg, p.Options)
		if err != nil {
			return err
		}
		if p.current.Swap(s) == nil {
			if err := forgetEnvironment(); err != nil {
				p.Log.Warn("The environment that this process was started with can still be read in /proc, with "+
					"the secrets in it; give them as files.", "error", err)
			}
			watching, cancel := context.WithCancel(ctx)
			defer cancel()
			go p.manager.watch(watching, func() (map[string]any, error) { return p.current.Load().readiness() })
		}
		s.greet(p.out)
		if ended, err := p.serve(ctx, s); ended {
			return err
		}
	}
}

// serve serves until ctx ends, the server fails, or a successor takes over. It reports
// whether the process is to end.
func (p *process) serve(ctx context.Context, s *Server) (ended bool, err error) {
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.welcome(serving, p.out)
	if p.before != nil {
		go p.announce(serving, s)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Wait(serving) }()
	for {
		select {
		case err := <-stopped:
			p.manager.tell("STOPPING=1")
			return true, errors.Join(err, s.Stop())
		case <-p.signals:
			next, err := p.prepare(ctx, s)
			if err == nil {
				return p.handOver(ctx, s, next)
			}
			p.Log.Error("The new program did not start; this one goes on.", "error", err)
		}
	}
}

// announce tells the program before this one when the server is ready. Without a word it
// serves again.
func (p *process) announce(ctx context.Context, s *Server) {
	before := p.before
	defer func() { _ = before.conn.Close() }()
	for {
		if _, err := s.readiness(); err == nil {
			_ = before.say(inPlace) // it may have been killed
			return
		}
		if wait.For(ctx, untilReady) != nil {
			return
		}
	}
}

// prepare starts the program at this one's path, with the socket in hand.
func (p *process) prepare(ctx context.Context, s *Server) (*neighbour, error) {
	if os.Getpid() == 1 {
		return nil, errors.New("this is the first process of its container, which ends with it: replace the container")
	}
	next, err := launch(s.socket, p.environ)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	if err := next.hear(ctx, prepared); err != nil {
		next.end()
		return nil, errors.Join(err, next.socket.Close())
	}
	return next, nil
}

// handOver stops the server for a successor. Callers wait meanwhile, and nobody is refused:
// the kernel goes on to accept connections. If the successor does not become ready, this
// process is to go on with another server.
func (p *process) handOver(ctx context.Context, s *Server, next *neighbour) (ended bool, err error) {
	p.Log.Info("The server hands over to a new program.", "pid", next.process.Pid)
	s.endRuns(0)
	if err := s.drain(closed.HandOver); err != nil {
		next.end()
		return true, err // the end of this process releases the folder
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err = next.say(goAhead); err == nil {
		err = next.hear(ctx, inPlace)
	}
	if err == nil {
		p.manager.tell(fmt.Sprintf("MAINPID=%d", next.process.Pid))
		return true, nil
	}
	next.end()
	p.Log.Error("The new program did not become ready; this one serves again.", "error", err)
	p.Listen = func() (net.Listener, error) { return listenerOf(next.socket) }
	return false, nil
}

// takeOver waits until the program before this one has let go of its folder.
func (n *neighbour) takeOver(ctx context.Context) error {
	if err := n.say(prepared); err != nil {
		return err
	}
	if err := n.hear(ctx, goAhead); err != nil {
		return fmt.Errorf("the program that this one was to replace goes on: %w", err)
	}
	return nil
}

// listenerOf returns a listener on a socket, which it closes.
func listenerOf(socket *os.File) (net.Listener, error) {
	listener, err := net.FileListener(socket)
	if err != nil {
		return nil, fmt.Errorf("%s is no socket to listen on: %w", socket.Name(), err)
	}
	return listener, socket.Close()
}
