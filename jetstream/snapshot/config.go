package snapshot

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/delivery"
)

const (
	// mark is the name under which a stream says which restoration has made it.
	mark = "sluice.restore"

	// The engine's client makes buckets of streams with such names and subjects.
	bucketPrefix, bucketSubjects = "KV_", "$KV."

	// ourSubjects is what the subjects of all other streams of sluice begin with.
	ourSubjects = "svc."
)

// config returns the configuration that a stream is restored with. A backup may come
// from anywhere, so of what it says only that is taken which the stream needs until a
// start sets the rest; nothing sets a bucket right later, so it is made as by the
// engine's client.
func (r *Restoration) config(s backup.Stream) (jetstream.StreamConfig, error) {
	said, err := read(s)
	if err != nil {
		return said, err
	}
	config := jetstream.StreamConfig{
		Name: s.Name, Subjects: said.Subjects, MaxMsgsPerSubject: said.MaxMsgsPerSubject, AllowDirect: said.AllowDirect,
		Storage: jetstream.FileStorage, MaxBytes: -1, Metadata: map[string]string{mark: r.id},
	}
	if strings.HasPrefix(s.Name, bucketPrefix) {
		config.AllowDirect, config.AllowRollup, config.DenyDelete, config.Discard = true, true, true, jetstream.DiscardNew
	}
	if marks := delivery.MarkerPrefix + ">"; s.Name == r.events && !r.host.Embedded && !slices.Contains(config.Subjects, marks) {
		config.Subjects = append(config.Subjects, marks)
	}
	return r.host.Config(config), nil
}

// CheckSubjects refuses a stream that would take the messages of other programs.
func CheckSubjects(s backup.Stream) error {
	_, err := read(s)
	return err
}

// read returns the configuration that is in a backup, if its subjects are sluice's.
func read(s backup.Stream) (said jetstream.StreamConfig, err error) {
	if err := json.Unmarshal(s.Config, &said); err != nil {
		return said, err
	}
	bucket, isBucket := strings.CutPrefix(s.Name, bucketPrefix)
	for _, subject := range said.Subjects {
		if isBucket && subject != bucketSubjects+bucket+".>" || !isBucket && !strings.HasPrefix(subject, ourSubjects) {
			return said, Foreign("the subject %s of the stream %s", subject, s.Name)
		}
	}
	return said, nil
}

// Foreign is the error of a backup that has something which sluice does not put there.
func Foreign(format string, args ...any) error {
	return sluice.Errorf(sluice.CodeBackupForeign, "The backup has something that is not sluice's: "+format+". Restore one that sluice backup of this version, or an earlier one, has made.", args...)
}
