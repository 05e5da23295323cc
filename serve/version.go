package serve

import (
	"context"
	"runtime/debug"

	"sluice/command"
)

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
	Version   string `json:"version" doc:"Of the server."`
	Commit    string `json:"commit" doc:"That it was built from."`
	Namespace string `json:"namespace" doc:"The realm of its tokens."`
	Engine    string `json:"engine" doc:"embedded or external."`

	elsewhere
}

// elsewhere is where people log in if not here, which strangers are told.
type elsewhere struct {
	Issuer    string `json:"issuer,omitempty" doc:"The external issuer of access tokens."`
	CLIClient string `json:"cliClient,omitempty" doc:"Client that sluice login is at that issuer."`
}

func (s *Server) info(context.Context, struct{}) (info, error) {
	return info{Version, Commit(), s.cfg.Namespace, s.engine.Description, s.logins()}, nil
}

func (s *Server) logins() elsewhere { return elsewhere{s.cfg.AuthIssuer, s.cfg.AuthCLIClient} }

// tellsLogins is the option of a command that tells strangers where they log in.
func (s *Server) tellsLogins(c *command.Command) {
	if s.cfg.AuthIssuer != "" {
		c.Told = s.logins()
	}
}
