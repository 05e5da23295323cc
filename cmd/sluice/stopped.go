package main

import (
	"log/slog"

	"sluice/config"
	"sluice/serve"
)

// onStopped works on the data of a stopped server: its settings say where that is, and how to open it.
func (t *cli) onStopped(do func(cfg config.Config, log *slog.Logger) error) error {
	cfg, err := t.settings()
	if err != nil {
		return err
	}
	log, flush := serve.NewLog(t.Err, cfg.LogLevel, cfg.LogFormat)
	defer flush()
	return do(cfg, log)
}
