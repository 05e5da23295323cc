package serve

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/api"
	"sluice/config"
	"sluice/portal/page"
	"sluice/wait"
)

// demoFile marks the data folder of a demo.
const demoFile = "demo"

// checkDemo refuses to fill a folder with made-up calls that has anything else.
func checkDemo(cfg config.Config) error {
	if !cfg.Demo {
		return nil
	}
	files, err := os.ReadDir(cfg.Data)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(files) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(files, func(file fs.DirEntry) bool { return file.Name() == demoFile }) {
		return nil
	}
	return fmt.Errorf("demo: %s has something other than a demo in it; --data names another folder", cfg.Data)
}

// isDemo reports whether the folder is that of a demo, and marks it as such where that is
// asked for.
func (s *Server) isDemo() (bool, error) {
	if s.folder == nil {
		return false, nil
	}
	var first func() string
	if s.cfg.Demo {
		first = func() string { return "Everything in this folder is made up: sluice serve --demo" }
	}
	content, err := s.folder.Content(demoFile, first)
	return content != "", err
}

// demoPipelines are those of a demo, by name.
//
//go:embed demo
var demoPipelines embed.FS

// A demoCall is one of a demo. A provider's sample is signed as that provider would, unless it is forged.
type demoCall struct {
	Key, Provider, Sample, Payload string

	Forged bool
}

// demoCallsFile has what a demo shows, one after another.
//
//go:embed demo.yaml
var demoCallsFile []byte

const (
	demoRounds = 6               // of all calls, at the first start
	demoPause  = 3 * time.Second // between two calls from then on
)

// demonstrate fills an empty server, and goes on to call it until ctx ends.
func (s *Server) demonstrate(ctx context.Context) {
	admin, err := s.directory.User(ctx, sluice.AdminName)
	ctx = sluice.WithUser(ctx, admin)
	var calls []demoCall
	if err == nil {
		err = yaml.Unmarshal(demoCallsFile, &calls)
	}
	if err == nil {
		err = s.furnish(ctx, calls)
	}
	for i := 0; err == nil; i++ {
		if err = wait.For(ctx, demoPause); err == nil {
			err = s.demoCall(ctx, calls[i%len(calls)])
		}
	}
	if ctx.Err() == nil {
		s.Log.Error("The demo ends.", "error", err)
	}
}

// furnish makes the webhooks, pipelines and first calls, unless there are some.
func (s *Server) furnish(ctx context.Context, calls []demoCall) error {
	if len(s.engine.Webhooks.All()) > 0 {
		return nil
	}
	made := make(map[string]bool)
	for _, c := range calls {
		if made[c.Key] {
			continue
		}
		made[c.Key] = true
		args := page.Args("eventKey", c.Key, "payloadType", "raw")
		if c.Provider != "" {
			args = page.Args(args, "provider", c.Provider, "signingSecret", "whsec_"+rand.Text())
		}
		if _, err := s.call(ctx, "webhook.put", args); err != nil {
			return err
		}
	}
	sources, err := demoPipelines.ReadDir("demo")
	if err != nil {
		return err
	}
	for _, file := range sources {
		source, err := demoPipelines.ReadFile(path.Join("demo", file.Name()))
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(file.Name(), ".yaml")
		if _, err := s.call(ctx, "pipeline.put", "name", name, "source", string(source)); err != nil {
			return err
		}
	}
	for i := range demoRounds * len(calls) {
		if err := s.demoCall(ctx, calls[i%len(calls)]); err != nil {
			return err
		}
	}
	return nil
}

// demoCall makes a call, as its sender would.
func (s *Server) demoCall(ctx context.Context, c demoCall) error {
	out, err := s.call(ctx, "webhook.sign", "eventKey", c.Key, "sample", c.Sample, "payload", c.Payload)
	if err != nil {
		return err
	}
	signed := out.(sluice.SignedCall) //nolint:forcetypeassert // as declared
	if c.Forged {
		signed.Body += " "
	}
	_, query, _ := strings.Cut(signed.URL, "?")
	r, err := http.NewRequestWithContext(ctx, signed.Method, sluice.ReceivePath+"?"+query,
		strings.NewReader(signed.Body))
	if err != nil {
		return err
	}
	for name, value := range signed.Headers {
		r.Header.Set(name, value)
	}
	r.RemoteAddr = "127.0.0.1:0"
	s.api.ServeHTTP(api.Unheard{}, r)
	return nil
}

// call calls a command by its name.
func (s *Server) call(ctx context.Context, name string, given ...any) (any, error) {
	cmd, _ := s.commands.Find(name)
	return s.commands.Call(ctx, cmd, page.Args(given...))
}
