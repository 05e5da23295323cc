package serve

import (
	"bufio"
	"context"
	"errors"
	"time"

	"sluice"
	"sluice/backup"
	"sluice/command"
	"sluice/durable"
)

type backupParams struct {
	Passphrase string `json:"passphrase" doc:"Seals the key that opens the backup, if it lies in the data folder. Without one, whoever has the backup has the key."`
}

func (s *Server) backup(_ context.Context, p backupParams) (command.Download, error) {
	return command.Download{
		ContentType: "application/octet-stream",
		Send: func(ctx context.Context, to *command.Output) error {
			return s.sendBackup(ctx, to, p.Passphrase)
		},
	}, nil
}

func (s *Server) backupHeader(passphrase string) (backup.Header, error) {
	h := backup.Header{
		Created: time.Now().UTC(), Version: Version, Data: durable.Format,
		Engine: s.engine.Description, Namespace: s.cfg.Namespace,
	}
	if s.folder == nil || s.cfg.SecretKey != "" || s.cfg.SecretKeyFile != "" {
		return h, nil // the operator has the key
	}
	key, err := s.folder.Content(keyFile, nil)
	if err != nil {
		return h, err
	}
	h.Key, err = backup.SealKey(key, passphrase)
	return h, err
}

// sendBackup writes a backup. If it fails halfway, it writes the reason into the file.
func (s *Server) sendBackup(ctx context.Context, to *command.Output, passphrase string) error {
	header, err := s.backupHeader(passphrase)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(to, 64<<10)
	w, err := backup.NewWriter(buffered, header)
	if err != nil {
		return err
	}
	if err = s.engine.Backup(ctx, w); err == nil {
		return buffered.Flush()
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if !to.Begun {
		return err // the caller answers with it
	}
	message := "something went wrong on the server; its log says more"
	if ours, ok := errors.AsType[*sluice.Error](err); ok {
		message = ours.Message
	}
	return errors.Join(err, w.Fail(message), buffered.Flush())
}
