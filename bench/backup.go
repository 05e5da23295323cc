package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sluice/backup"
)

const (
	backedUpCalls = 150_000
	backedUpSize  = 4 << 10 // of a body: random, so that it takes no less space compressed
	backups       = 3
)

// measureBackup measures how fast an idle server is backed up, against the disk, and restored; and
// the cost of a backup to those who call meanwhile.
func measureBackup(ctx context.Context, b *bench) error {
	s, tokens, err := b.startWithWebhooks(ctx, "backed-up", 1, groupCommit)
	if err != nil {
		return err
	}
	progressf("%s calls with bodies of %s bytes", grouped(backedUpCalls), grouped(backedUpSize))
	if err := inParallel(ctx, writers, backedUpCalls, func(ctx context.Context, _ int) error {
		random := make([]byte, backedUpSize*3/4)
		_, _ = rand.Read(random) // never fails
		out := newReceive(tokens[0])
		out.body = base64.StdEncoding.EncodeToString(random)
		_, err := s.send(ctx, out)
		return err
	}); err != nil {
		return err
	}
	if err := b.measureBackupSpeed(ctx, s); err != nil {
		return err
	}
	calls, err := b.newLoad(s.client, "backed-up", tokens)
	if err != nil {
		return err
	}
	return b.measureBackupCost(ctx, s, calls)
}

// measureBackupSpeed adds how many bytes of messages are backed up in a second.
func (b *bench) measureBackupSpeed(ctx context.Context, s *server) error {
	disk, err := diskSpeed(b.part)
	if err != nil {
		return err
	}
	const wanted = 200e6
	var speeds []float64
	var stored, written float64
	for range backups {
		began := time.Now()
		saved, size, err := s.backUp(ctx, filepath.Join(b.part, "saved.backup"))
		if err != nil {
			return err
		}
		stored, written = float64(saved.Bytes), float64(size)
		speeds = append(speeds, stored/time.Since(began).Seconds())
		progressf("%.0f MB in %.1f s", stored/1e6, time.Since(began).Seconds())
	}
	b.table.add("writing to the disk, with a sync", fmt.Sprintf("%.0f MB/s", disk/1e6))
	b.table.hold("backup of "+grouped(stored/1e6)+" MB of messages to a file of "+grouped(written/1e6)+" MB",
		fmt.Sprintf("%.0f MB/s", median(speeds)/1e6), median(speeds),
		atLeast(min(wanted, disk), "200 MB/s or the disk's"))
	return nil
}

// measureBackupCost compares calls while one backup follows the other with calls
// while none is made.
func (b *bench) measureBackupCost(ctx context.Context, s *server, calls load) error {
	quiet := &contender{name: "sluice with 150,000 calls stored, 64 connections", load: calls}
	during := &contender{name: "the same while it is backed up", load: calls}
	for round := range b.rounds + 1 {
		for i := range 2 {
			c := []*contender{quiet, during}[(round+i)%2]
			o, err := b.runBackedUp(ctx, s, calls, c == during)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 {
				c.rounds = append(c.rounds, o)
			}
			progressf("round %d of %d: %s calls/s, %s", round, b.rounds, grouped(o.rate()), c.name)
		}
	}
	for _, c := range []*contender{quiet, during} {
		b.table.add(c.name, c.String())
	}
	b.holdRatio(ratio{"calls while a backup is made, to calls while none is", during, quiet, atLeast(0.70, "0.70")})
	return nil
}

// runBackedUp makes a burst of calls, with backups meanwhile if that is wanted.
func (b *bench) runBackedUp(ctx context.Context, s *server, calls load, backedUp bool) (measurement, error) {
	if !backedUp {
		return b.run(ctx, calls, b.burst)
	}
	saving, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		var err error
		for err == nil && saving.Err() == nil {
			_, _, err = s.backUp(saving, filepath.Join(b.part, "meanwhile.backup"))
		}
		failed <- err
	}()
	// It is the middle of a backup that counts: one that begins while there are no
	// calls goes as fast as it can, and the disk has to catch up.
	_, err := b.run(ctx, calls, b.burst)
	o, failure := b.run(ctx, calls, b.burst)
	err = errors.Join(err, failure)
	ended := saving.Err() == nil && len(failed) > 0
	stop()
	if failure := <-failed; ended {
		err = errors.Join(err, failure)
	}
	return o, err
}

// backUp writes a backup to a file, as sluice backup does, and gives what is in it
// and its size.
func (s *server) backUp(ctx context.Context, name string) (saved backup.Summary, size int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+commandPath+"server.backup", http.NoBody)
	if err != nil {
		return saved, 0, err
	}
	request.Header.Set("Authorization", asAdmin)
	response, err := s.http.Do(request)
	if err != nil {
		return saved, 0, err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	if response.StatusCode != http.StatusOK {
		return saved, 0, fmt.Errorf("server.backup: %s", response.Status)
	}
	file, err := os.Create(name)
	if err != nil {
		return saved, 0, err
	}
	_, saved, err = backup.Check(io.TeeReader(response.Body, file))
	info, statErr := file.Stat()
	if err := errors.Join(err, statErr, file.Sync(), file.Close()); err != nil {
		return saved, 0, err
	}
	return saved, info.Size(), nil
}

// diskSpeed returns how many bytes a second can be written to a folder and synced.
func diskSpeed(dir string) (float64, error) {
	const chunk, chunks = 1 << 20, 512
	content := make([]byte, chunk)
	_, _ = rand.Read(content) // never fails
	name := filepath.Join(dir, "speed")
	file, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for range chunks {
		_, failed := file.Write(content)
		err = errors.Join(err, failed)
	}
	err = errors.Join(err, file.Sync())
	took := time.Since(began)
	return chunk * chunks / took.Seconds(), errors.Join(err, file.Close(), os.Remove(name))
}
