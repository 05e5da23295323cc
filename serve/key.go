package serve

import (
	"errors"
	"fmt"
	"os"

	"sluice"
	"sluice/config"
	"sluice/durable"
	"sluice/seal"
)

// keyFile is where the key that seals all records is, if the operator gives none.
const keyFile = "secret.key"

// boxOf returns what opens the box that all records are sealed with: with the key
// that the operator gives, or otherwise one that is made in the data folder. Where
// there are sealed records already none is made, since it could open nothing.
func boxOf(cfg config.Config, folder *durable.Folder) func(sealed bool) (*seal.Box, error) {
	return func(sealed bool) (*seal.Box, error) {
		setting, text, err := givenKey(cfg)
		if err != nil {
			return nil, err
		}
		if text == "" {
			setting, text, err = keyInFolder(folder, sealed)
		}
		if err != nil {
			return nil, err
		}
		return parseBox(setting, text)
	}
}

// checkKey refuses a given key that is none.
func checkKey(cfg config.Config) error {
	setting, text, err := givenKey(cfg)
	if err == nil && text != "" {
		_, err = parseBox(setting, text)
	}
	return err
}

// givenKey returns the operator's key and the setting that it is from, "" if there
// is none.
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
		err = sluice.Errorf(sluice.CodeSecretKeyMissing,
			"What is stored in the data folder was sealed with a key from outside; give it as SLUICE_SECRET_KEY or with --secret-key-file. Nothing was changed.").Because(seal.ErrOtherKey)
	}
	return keyFile, text, err
}

// keyWarnings warns of a key that lies beside what it seals, although the operator
// keeps it elsewhere.
func (s *Server) keyWarnings() []string {
	if s.folder == nil || s.cfg.SecretKey == "" && s.cfg.SecretKeyFile == "" {
		return nil
	}
	if _, err := os.Stat(s.folder.Path(keyFile)); err != nil {
		return nil
	}
	return []string{keyFile + " lies in the data folder, although the key is given from outside: keep a copy of the file elsewhere if older backups need it, and delete it"}
}

// parseBox returns the box of a key; setting is where the key is from.
func parseBox(setting, text string) (*seal.Box, error) {
	key, err := seal.ParseKey(text)
	if err != nil {
		e := sluice.AsError(err)
		return nil, e.Saying(setting + ": " + e.Message)
	}
	return seal.New(key)
}
