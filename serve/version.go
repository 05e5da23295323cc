package serve

import "runtime/debug"

// Version is the version of the program.
const Version = "0.2.0"

// Commit returns the commit that the program was built from, as the toolchain
// noted it: with "+changes" behind it if the tree had changes that were not
// committed, and empty if it was built outside a repository.
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
