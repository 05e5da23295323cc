package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"sluice"
	"sluice/config"
	"sluice/durable"
	"sluice/limit"
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
		err = sluice.Errorf(sluice.CodeSecretKeyMissing,
			"What is stored in the data folder was sealed with a key from outside; give it as SLUICE_SECRET_KEY or with --secret-key-file. Nothing was changed.").Because(seal.ErrOtherKey)
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
	return []string{keyFile + " lies in the data folder, although the key is given from outside: keep a copy of the file elsewhere if older backups need it, and delete it"}
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

// warnOfModes warns if other users of the machine can change the data folder or read a
// key. Windows has no modes.
func warnOfModes(cfg config.Config, log *slog.Logger) {
	const othersRead, othersWrite fs.FileMode = 0o004, 0o002
	if runtime.GOOS == "windows" {
		return
	}
	open := func(path string, mode fs.FileMode) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode()&mode != 0
	}
	if cfg.NATS == "" && open(cfg.Data, othersWrite) {
		log.Warn("Every user of this machine can write in the data folder; chmod 700 keeps them out.", "folder", cfg.Data)
	}
	for _, key := range []string{cfg.SecretKeyFile, cfg.TLSKey, filepath.Join(cfg.Data, keyFile)} {
		if key != "" && open(key, othersRead) {
			log.Warn("Every user of this machine can read a key; chmod 600 keeps them out.", "file", key)
		}
	}
}

// fewFiles is how many connections a busy server soon has open.
const fewFiles = 4096

// Inspect says what on this machine could be better for a server with these settings, and what to
// do about it: pairs of sentences.
func Inspect(cfg config.Config) (found [][2]string) {
	if _, err := os.Stat(filepath.Join(cfg.Data, keyFile)); err == nil {
		found = append(found, [2]string{
			"The key that seals all records lies in the data folder, so whoever has a copy of the folder can read them.",
			"Move " + filepath.Join(cfg.Data, keyFile) + " elsewhere, keep a copy in a safe place, and name it with --secret-key-file.",
		})
	}
	if files := limit.Files(); files < fewFiles {
		found = append(found, [2]string{
			fmt.Sprintf("A process may have %d files and connections open here.", files),
			"Raise the limit: LimitNOFILE=65536 in the unit of systemd, or ulimit -n 65536 before the start.",
		})
	}
	if space, err := durable.FreeSpace(cfg.Data); err == nil && space.Bytes < 4*int64(cfg.MinFreeDisk) {
		found = append(found, [2]string{
			fmt.Sprintf("%d MiB are free on the volume of the data folder; below %d MiB calls are refused.", space.Bytes>>20, int64(cfg.MinFreeDisk)>>20),
			"Enlarge the volume, or keep less with --event-max-age and --event-max-bytes.",
		})
	}
	if strings.HasPrefix(cfg.PublicURL, "https://") && !cfg.HTTPS() && len(cfg.TrustedProxies) == 0 && len(cfg.ProxyProtocol) == 0 {
		found = append(found, [2]string{
			"A proxy stands in front, and it is not trusted: all callers seem to have its address, and share its limits.",
			"Name its network with --trusted-proxies, and let it set X-Forwarded-For; docs/proxies.md has the lines for each proxy.",
		})
	}
	return found
}
