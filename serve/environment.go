package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"sluice/command"
	"sluice/jetstream"
	"sluice/telemetry"
)

// isSetting reports whether a variable of the environment is a setting of the server, or
// has the credentials with which spans are sent.
func isSetting(name string) bool {
	return strings.HasPrefix(name, "SLUICE_") || strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") && strings.HasSuffix(name, "HEADERS")
}

// forgetEnvironment removes the settings, which may be secrets, from the environment after
// they were read. On Linux, /proc/PID/environ shows the memory that the kernel has filled at
// the start, so they are overwritten there as well.
func forgetEnvironment() error {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); isSetting(name) {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	shown, err := os.ReadFile("/proc/self/environ")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another system
	}
	if err != nil {
		return err
	}
	at, err := environmentStart()
	if err != nil {
		return err
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	for variable := range bytes.SplitSeq(shown, []byte{0}) {
		if name, value, _ := bytes.Cut(variable, []byte("=")); isSetting(string(name)) {
			if _, err := memory.WriteAt(make([]byte, len(value)), at+int64(len(name)+1)); err != nil {
				return err
			}
		}
		at += int64(len(variable) + 1)
	}
	return nil
}

// environmentStart returns the address of the environment that the process was started with.
func environmentStart() (int64, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	const state, start = 3, 50 // numbers of fields, see proc_pid_stat(5)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= start-state {
		return 0, fmt.Errorf("/proc/self/stat has only %d fields", len(fields)+state-1)
	}
	return strconv.ParseInt(string(fields[start-state]), 10, 64)
}

// startTelemetry starts to send spans, if the environment says where to.
func (s *Server) startTelemetry(ctx context.Context) (err error) {
	if !telemetry.Wanted() {
		return nil
	}
	if s.telemetry, err = telemetry.Start(ctx, Version, s.opts.Log); err != nil {
		return fmt.Errorf("OpenTelemetry: %w", err)
	}
	s.opts.Log = telemetry.Log(s.opts.Log)
	return nil
}

// Version is the program's version.
const Version = "0.2.0"

// Commit returns the commit that the program was built from, with "+changes" if there were
// uncommitted changes. It is empty if the program was built outside a repository.
func Commit() string { return commit(fullHash) }

// Release returns the version with the beginning of the commit, for people.
func Release() string {
	const short = 12
	if from := commit(short); from != "" {
		return Version + " (" + from + ")"
	}
	return Version
}

// fullHash is longer than the hash of any commit.
const fullHash = 64

func commit(length int) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return commitIn(info.Settings, length)
}

func commitIn(settings []debug.BuildSetting, length int) string {
	noted := make(map[string]string)
	for _, s := range settings {
		noted[s.Key] = s.Value
	}
	hash := noted["vcs.revision"]
	if hash == "" {
		return ""
	}
	hash = hash[:min(length, len(hash))]
	if noted["vcs.modified"] == "true" {
		hash += "+changes"
	}
	return hash
}

type info struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	Namespace string `json:"namespace"`
	Engine    string `json:"engine"`
}

func infoCommand(namespace string, engine *jetstream.Engine) command.Command {
	return command.New("server.info", "Show the server's version, the commit it was built from, its namespace and its engine.",
		func(context.Context, struct{}) (info, error) {
			return info{Version: Version, Commit: Commit(), Namespace: namespace, Engine: engine.Description}, nil
		}, command.ReadOnly, command.Global)
}
