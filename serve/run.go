package serve

import (
	"context"
	"io"
	"os"

	"sluice/config"
)

// Run starts a server, and prints its address and how to try it to out. It serves until ctx ends or a new program
// has taken over.
func Run(ctx context.Context, cfg config.Config, opts Options, out io.Writer) error {
	signals, stop := handOverSignals()
	defer stop()
	p := &process{
		Options: opts, cfg: withMemory(cfg), out: out, environ: os.Environ(), signals: signals,
		manager: findSupervisor(opts.Log),
	}
	tune(p.cfg)
	var err error
	if p.Listen, p.before, err = inherit(); err != nil {
		return err
	}
	if p.before != nil {
		if _, err := checkFiles(cfg, opts.Log); err != nil {
			return err
		}
		if err := p.before.takeOver(ctx); err != nil {
			return err
		}
	}
	return p.run(ctx)
}
