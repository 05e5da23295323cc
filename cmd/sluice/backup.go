package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"time"

	"sluice/backup"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/durable"
	"sluice/wording"
)

const passphraseVariable = "SLUICE_BACKUP_PASSPHRASE" //nolint:gosec // a name

func (t *cli) backup(ctx context.Context) error {
	if t.Args[0] == "-" && terminal.IsTerminal(t.Out) {
		return exit.Usage("A backup is no text for a terminal; redirect it, or name a file.")
	}
	params := url.Values{}
	if passphrase := os.Getenv(passphraseVariable); passphrase != "" {
		params.Set("passphrase", passphrase)
	}
	name, began := t.Args[0], time.Now()
	answer, err := t.Server.Download(ctx, "server.backup", params)
	if err != nil {
		return err
	}
	defer answer.Close()
	s, err := t.save(name, answer)
	switch {
	case err != nil:
		return cmp.Or(ctx.Err(), err)
	case name == "-":
		return nil
	}
	return t.Present(map[string]any{
		"file": name, "size": s.size, "created": s.header.Created, "streams": s.summary.Streams,
		"messages": s.summary.Messages, "bytes": s.summary.Bytes, "key": s.header.Key != nil,
	}, func(w io.Writer) {
		fmt.Fprintf(w, "Wrote %s: %d messages in %d streams, %s in %s.\n", view.Printable(name), s.summary.Messages,
			s.summary.Streams, wording.Bytes(s.size), time.Since(began).Round(time.Millisecond))
		fmt.Fprintln(w, aboutKey(s.header))
	})
}

// saved is what is known of a backup that was saved.
type saved struct {
	header  backup.Header
	summary backup.Summary
	size    int64
}

// save writes a backup and checks it meanwhile. It replaces a file of that name only
// once the new one is whole.
func (t *cli) save(name string, from io.Reader) (s saved, err error) {
	bar := t.Transfer(-1, "backing up")
	defer bar.End()
	write := func(to io.Writer) (err error) {
		s.header, s.summary, err = backup.Check(io.TeeReader(from, io.MultiWriter(to, bar)))
		s.size = bar.Done
		return err
	}
	if name == "-" {
		err = write(t.Out)
	} else {
		err = durable.Write(name, write)
	}
	if at := new(fs.PathError); errors.As(err, &at) && at.Op == "open" {
		err = exit.Usage("%v", err)
	}
	return s, err
}

// aboutKey says what is needed to open a backup.
func aboutKey(header backup.Header) string {
	switch {
	case header.Key == nil:
		return "It opens with the key that the server was given (SLUICE_SECRET_KEY or --secret-key-file): keep that, " +
			"too."
	case header.Key.Passphrase:
		return "It opens with the passphrase: keep that, too."
	}
	return "Whoever has the file can open it: keep it as safe as the data folder, or set " + passphraseVariable + "."
}
