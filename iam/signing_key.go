package iam

import (
	"context"
	"time"

	"sluice/command"
)

type keyRotated struct {
	KeyID   string    `json:"keyId"`
	Created time.Time `json:"created"`
}

func keyRotateCommand(d *Directory) command.Command {
	return command.New("iam.key.rotate",
		"Make a new key that signs tokens from now on. Tokens signed with earlier keys stay valid until they expire.",
		ofOurs(d, func(ctx context.Context, _ struct{}) (keyRotated, error) {
			id, created, err := d.RotateKey(ctx)
			return keyRotated{id, created}, err
		}), command.Global)
}
