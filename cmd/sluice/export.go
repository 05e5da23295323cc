package main

import (
	"context"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
	"sluice/durable"
	"sluice/manifest"
	"sluice/value"
)

func (t *cli) export(ctx context.Context) error {
	if erasures := t.Text("erasures"); erasures != "" {
		if err := t.exportErasures(ctx, erasures); err != nil || len(t.Args) == 0 {
			return err
		}
	}
	if len(t.Args) == 0 {
		return exit.Usage("Name the folder for the files, or a file with --erasures.")
	}
	done, err := manifest.Export(ctx, t.Server, t.Args[0])
	if err != nil {
		return err
	}
	if tokens := t.Text("tokens"); tokens != "" {
		if err := manifest.ExportTokens(ctx, t.Server, t.Args[0], tokens); err != nil {
			return err
		}
		t.Notef("The tokens are in %s, for you alone to read; delete it when it is no longer needed.", tokens)
	}
	for _, folder := range done.Skipped {
		t.Sayf("Left out the %s, which you can't read.", folder)
	}
	for _, file := range done.Stale {
		t.Sayf("The server has nothing of what is in %s; the file is still there.", file)
	}
	return t.Report(done, "Wrote %s to %s; %d unchanged.", view.Counted(len(done.Written), "file"), t.Args[0],
		done.Unchanged)
}

// exportErasures writes what the server has erased to a file.
func (t *cli) exportErasures(ctx context.Context, file string) error {
	var all []sluice.Erasure
	if err := t.Server.Decode(ctx, "event.erasures", nil, nil, &all); err != nil {
		return err
	}
	text, err := value.MarshalIndent(all)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(file, append(text, '\n')); err != nil {
		return exit.Usage("%v", err)
	}
	return t.Report(map[string]any{"file": file, "erasures": len(all)}, "Wrote %s to %s.",
		view.Counted(len(all), "erasure"), file)
}
