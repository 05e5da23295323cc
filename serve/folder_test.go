package serve_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"sluice"
	"sluice/durable"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/seal"
)

// newFolder returns a data folder in which an engine was set up and an admin
// created before. The hash of the password is one that is cheap to check:
// otherwise most of the work of these tests were hashing. Tests of a first
// start begin with an empty folder instead.
func newFolder(t *testing.T) string {
	t.Helper()
	before, err := setUpOnce()
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := os.CopyFS(data, os.DirFS(before)); err != nil {
		t.Fatal(err)
	}
	return data
}

// setUpOnce returns the folder that the others are copies of. TestMain removes it.
var setUpOnce = sync.OnceValues(func() (data string, err error) {
	if data, err = os.MkdirTemp("", "sluice-serve-"); err != nil {
		return "", err
	}
	folder, err := durable.OpenFolder(data)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	key := base64.StdEncoding.EncodeToString(make([]byte, seal.KeySize)) // as natstest.Box has it
	if err := os.WriteFile(filepath.Join(data, "secret.key"), []byte(key), 0o600); err != nil {
		return "", err
	}
	ctx := context.Background()
	engine, err := jetstream.Open(ctx, jetstream.Options{
		Dir: folder.Store(), Box: natstest.Box, EventMaxAge: time.Hour, EventMaxBytes: 1 << 30, ResultTTL: time.Hour, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return "", err
	}
	defer engine.Close()
	<-engine.SetUp()
	now := time.Now().UTC()
	_, err = engine.Accounts.Change(ctx, sluice.AdminName, func(*sluice.Account, map[string]*sluice.Account) (*sluice.Account, error) {
		return &sluice.Account{Username: sluice.AdminName, Password: cheapHash(adminPassword), Roles: []string{sluice.AdminName}, Created: now, Updated: now}, nil
	})
	return data, err
})

// cheapHash returns a hash in the form in which all are stored, at the least
// cost.
func cheapHash(password string) string {
	salt := []byte("salt of the tests")
	return fmt.Sprintf("$argon2id$v=%d$m=8,t=1,p=1$%s$%s", argon2.Version,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(password), salt, 1, 8, 1, 32)))
}
