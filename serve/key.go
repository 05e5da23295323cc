package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sluice"
	"sluice/config"
	"sluice/durable"
	"sluice/seal"
)

// keyFile holds the key that seals all records, if the operator gives none.
const keyFile = "secret.key"

// boxOf returns a function that makes the box for all records, with the operator's key or
// with the one in the data folder. If sealed records exist, it makes no new key, since that
// could open none of them.
func boxOf(cfg config.Config, folder *durable.Folder) func(sealed bool) (*seal.Box, error) {
	return func(sealed bool) (*seal.Box, error) {
		setting, text, err := givenKey(cfg)
		if err == nil && text == "" {
			setting, text, err = keyInFolder(folder, sealed)
		}
		if err != nil {
			return nil, err
		}
		return parseBox(setting, text)
	}
}

// checkKey rejects an invalid key of the operator.
func checkKey(cfg config.Config) error {
	setting, text, err := givenKey(cfg)
	if err == nil && text != "" {
		_, err = parseBox(setting, text)
	}
	return err
}

// keyIsElsewhere reports whether the operator keeps the key outside of the data folder.
func keyIsElsewhere(cfg config.Config) bool {
	if cfg.SecretKeyFile == "" {
		return cfg.SecretKey != ""
	}
	resolved := func(path string) string {
		path, _ = filepath.Abs(path)
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		return path // it is made later
	}
	below, err := filepath.Rel(resolved(cfg.Data), resolved(cfg.SecretKeyFile))
	return err != nil || strings.HasPrefix(below, "..")
}

// givenKey returns the operator's key, "" if there is none, and the setting that has it.
func givenKey(cfg config.Config) (setting, text string, err error) {
	if cfg.SecretKeyFile == "" {
		return "secret-key", cfg.SecretKey, nil
	}
	content, err := os.ReadFile(cfg.SecretKeyFile)
	if err != nil {
		return "", "", fmt.Errorf("secret-key-file: %w", err)
	}
	if len(content) == 0 {
		return "", "", errors.New("secret-key-file: it is empty")
	}
	return "secret-key-file", string(content), nil
}

func keyInFolder(folder *durable.Folder, sealed bool) (setting, text string, err error) {
	first := seal.NewKey
	if sealed {
		first = nil
	}
	text, err = folder.Content(keyFile, first)
	if err == nil && text == "" {
		err = sluice.CodeSecretKeyMissing.Errorf(
			"What is stored in the data folder was sealed with a key from outside; give it as SLUICE_SECRET_KEY or " +
				"with --secret-key-file. Nothing was changed.").Because(seal.ErrOtherKey)
	}
	return keyFile, text, err
}

// keyWarnings warns of a key file in the data folder if the operator keeps the key
// elsewhere.
func (s *Server) keyWarnings() []string {
	if s.folder == nil || s.cfg.SecretKey == "" && s.cfg.SecretKeyFile == "" {
		return nil
	}
	if _, err := os.Stat(s.folder.Path(keyFile)); err != nil {
		return nil
	}
	return []string{keyFile + " lies in the data folder, although the key is given from outside: keep a copy of the " +
		"file elsewhere if older backups need it, and delete it"}
}

// parseBox returns the box of a key from a setting.
func parseBox(setting, text string) (*seal.Box, error) {
	key, err := seal.ParseKey(text)
	if err != nil {
		e := sluice.AsError(err)
		return nil, e.Saying(setting + ": " + e.Message)
	}
	return seal.New(key)
}
