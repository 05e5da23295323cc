package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"sluice/config"
	"sluice/serve"
)

// restartMode lets a server hand over to a new program again and again, while half of the
// callers keep their connections and half make a new one for each call. Nobody may be
// refused or cut off, and no acknowledged call may be lost. In the negative control the
// server is stopped and started, which callers must notice.
var restartMode = mode{
	name:    "restart",
	summary: "restart the server under load, which nobody may notice",
	run:     runRestarts,
}

const (
	restartPart = "restarted"
	mostPatient = 3 * time.Second // that a caller may have to wait
)

// runRestarted is the server's process, started as the shipped program starts it.
func runRestarted(ctx context.Context, data string, options []string) error {
	endWithParent()
	set := map[string]string{
		"data": data, "listen": "127.0.0.1:0", "event-max-bytes": "1024GiB", "max-connections-per-address": "16384",
	}
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		if bend := bends[name]; bend == nil {
			set[name] = value
		} else if err := bend(value); err != nil {
			return err
		}
	}
	cfg, err := config.Load("", nil, set)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return serve.Run(ctx, cfg, serve.Options{AdminPassword: adminPassword, Log: log}, os.Stdout)
}

func runRestarts(ctx context.Context, s settings) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\n\trestarts\tevents before\tacked\trefused\tcut off\tother errors\tlost\tlongest wait\t")
	var failed error
	try := func(name string, secure, rebind bool) {
		r := &restarts{settings: s, rebind: rebind}
		err := r.run(ctx, secure)
		if err == nil {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d ms\t\n", name, r.done, s.events, len(r.acked),
				r.refused.Load(), r.cut.Load(), r.others.Load(), r.lost, r.longest.Load())
			err = r.verdict()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	try("HTTP", false, false)
	try("HTTPS", true, false)
	if s.negative {
		try("negative control: stopped and started", false, true)
	}
	return errors.Join(w.Flush(), failed)
}

// restarts are one trial.
type restarts struct {
	settings
	rebind bool // stop and start instead of a hand-over

	server  *server
	manager *net.UnixConn // hears what systemd would hear
	pid     int           // of the process that serves
	client  *client       // keeps its connections
	once    *client       // does not
	token   string

	refused, cut, others atomic.Int64
	longest              atomic.Int64 // milliseconds
	mu                   sync.Mutex
	acked                []uint64
	done, lost           int
}

func (r *restarts) verdict() error {
	failures := r.refused.Load() + r.cut.Load() + r.others.Load()
	switch {
	case r.lost > 0:
		return errors.New("acknowledged calls were lost")
	case r.rebind && r.refused.Load() == 0:
		return errors.New("nobody was refused: the test can't detect that")
	case !r.rebind && failures > 0:
		return errors.New("callers noticed the restarts")
	case !r.rebind && r.longest.Load() > mostPatient.Milliseconds():
		return fmt.Errorf("a caller waited for longer than %s", mostPatient)
	}
	return nil
}

func (r *restarts) run(ctx context.Context, secure bool) (err error) {
	dir, err := os.MkdirTemp(r.dir, "torture-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if r.manager, err = net.ListenUnixgram("unixgram", &net.UnixAddr{
		Name: filepath.Join(dir, "notify"), Net: "unixgram",
	}); err != nil {
		return err
	}
	defer func() { _ = r.manager.Close() }() // nothing is left to hear
	var options []string
	if secure {
		certificate, key, err := selfSigned(filepath.Join(dir, "tls"))
		if err != nil {
			return err
		}
		options = []string{"tls-cert=" + certificate, "tls-key=" + key}
	}
	if err := r.start(ctx, dir, options); err != nil {
		return err
	}
	defer func() {
		_ = syscall.Kill(r.pid, syscall.SIGKILL) // it has ended unless something went wrong
		r.server.kill()
	}()
	if err := r.fill(ctx); err != nil {
		return err
	}
	if err := r.cycle(ctx, dir, options); err != nil {
		return err
	}
	if err := r.end(); err != nil {
		return err
	}
	stored, err := readEvents(ctx, filepath.Join(dir, "data"))
	for _, id := range r.acked {
		if stored[id] != 1 {
			r.lost++
		}
	}
	return err
}

// start starts a server and waits until it is ready.
func (r *restarts) start(ctx context.Context, dir string, options []string) error {
	cmd, err := partCommand(append([]string{restartPart, filepath.Join(dir, "data")}, options...)...)
	if err != nil {
		return err
	}
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(dir, "notify"))
	if r.server, err = launchCommand(cmd); err != nil {
		return err
	}
	r.pid = cmd.Process.Pid
	banner, err := r.server.ready(ctx)
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, r.server.out) }()
	url := strings.Fields(strings.SplitAfter(banner, "listens on ")[1])[0]
	if _, err := r.hear("READY=1"); err != nil || r.token != "" {
		return err
	}
	r.client, r.once = newClient(url, r.connections), newClient(url, 1)
	for _, c := range []*client{r.client, r.once} {
		c.http.Transport.(*http.Transport).TLSClientConfig = anybody
	}
	r.once.http.Transport.(*http.Transport).DisableKeepAlives = true
	var hook struct {
		UUID string `json:"uuid"`
	}
	err = r.client.command(ctx, "webhook.put", map[string]any{"eventKey": "webhook.restart"}, &hook)
	r.token = hook.UUID
	return err
}

// hear waits for a message to the service manager, and returns what follows in its line.
func (r *restarts) hear(what string) (string, error) {
	if err := r.manager.SetReadDeadline(time.Now().Add(startWithin)); err != nil {
		return "", err
	}
	for message := make([]byte, 4096); ; {
		n, err := r.manager.Read(message)
		if err != nil {
			return "", fmt.Errorf("no %s: %w: %s", what, err, r.server.log.text)
		}
		if text, found := strings.CutPrefix(string(message[:n]), what); found {
			return text, nil
		}
	}
}

// fill makes the events that are there before.
func (r *restarts) fill(ctx context.Context) error {
	var next atomic.Int64
	var work sync.WaitGroup
	errs := make(chan error, r.connections)
	for range r.connections {
		work.Go(func() {
			for next.Add(1) <= int64(r.events) {
				for failures := 0; ; failures++ {
					_, err := r.client.receive(ctx, r.token, 0, []byte("x"))
					if err == nil {
						break
					}
					if failures == 5 || ctx.Err() != nil {
						errs <- err
						return
					}
					sleep(ctx, time.Second) // the disk has other work
				}
			}
		})
	}
	work.Wait()
	close(errs)
	return <-errs
}

// cycle restarts the server again and again under load.
func (r *restarts) cycle(ctx context.Context, dir string, options []string) error {
	calling, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	var ids atomic.Uint64
	for i := range r.connections {
		c := r.client
		if i%2 == 1 {
			c = r.once
		}
		work.Go(func() {
			for calling.Err() == nil {
				r.call(ctx, c, ids.Add(1))
			}
		})
	}
	random := r.random()
	for range r.cycles {
		sleep(ctx, r.moment(random))
		if err := r.restart(ctx, dir, options); err != nil {
			return err
		}
		r.done++
	}
	sleep(ctx, r.moment(random))
	return ctx.Err()
}

// call makes a call and notes what became of it.
func (r *restarts) call(ctx context.Context, c *client, id uint64) {
	began := time.Now()
	_, err := c.receive(ctx, r.token, id, appendBody(nil, id))
	for took := time.Since(began).Milliseconds(); ; {
		longest := r.longest.Load()
		if took <= longest || r.longest.CompareAndSwap(longest, took) {
			break
		}
	}
	switch {
	case err == nil:
		r.mu.Lock()
		r.acked = append(r.acked, id)
		r.mu.Unlock()
	case errors.Is(err, syscall.ECONNREFUSED):
		r.refused.Add(1)
		sleep(ctx, pause)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF):
		r.cut.Add(1)
	default:
		r.others.Add(1)
		fmt.Fprintln(os.Stderr, "a call failed:", err)
	}
}

func (r *restarts) restart(ctx context.Context, dir string, options []string) error {
	if r.rebind {
		if err := r.server.stop(); err != nil {
			return err
		}
		return r.start(ctx, dir, append(options, "listen="+strings.TrimPrefix(r.client.url, "http://")))
	}
	if err := syscall.Kill(r.pid, syscall.SIGUSR2); err != nil {
		return err
	}
	text, err := r.hear("MAINPID=")
	if err == nil {
		r.pid, err = strconv.Atoi(text)
	}
	return err
}

// end ends the server, whichever program it is by now.
func (r *restarts) end() error {
	if err := syscall.Kill(r.pid, syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-r.server.exited: // with the last process that has its log
		return r.server.err
	case <-time.After(stopWithin):
		return errors.New("the server did not stop in time")
	}
}
