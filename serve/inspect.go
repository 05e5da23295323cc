package serve

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"sluice/config"
	"sluice/durable"
	"sluice/limit"
)

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
		log.Warn("Every user of this machine can write in the data folder; chmod 700 keeps them out.",
			"folder", cfg.Data)
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
			"The key that seals all records lies in the data folder, so whoever has a copy of the folder can read " +
				"them.",
			"Move " + filepath.Join(cfg.Data, keyFile) +
				" elsewhere, keep a copy in a safe place, and name it with --secret-key-file.",
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
			fmt.Sprintf("%d MiB are free on the volume of the data folder; below %d MiB calls are refused.",
				space.Bytes>>20, int64(cfg.MinFreeDisk)>>20),
			"Enlarge the volume, or keep less with --event-max-age and --event-max-bytes.",
		})
	}
	if strings.HasPrefix(cfg.PublicURL, "https://") && !cfg.HTTPS() && len(cfg.TrustedProxies) == 0 &&
		len(cfg.ProxyProtocol) == 0 {
		found = append(found, [2]string{
			"A proxy stands in front, and it is not trusted: all callers seem to have its address, and share its " +
				"limits.",
			"Name its network with --trusted-proxies, and let it set X-Forwarded-For; docs/proxies.md has the lines " +
				"for each proxy.",
		})
	}
	return found
}
