package serve

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"sluice/config"
)

// warnOfModes tells the operator if other users of the machine can change what is
// stored, or read the key of it. Windows has other means than modes.
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
