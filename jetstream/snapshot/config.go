package snapshot

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/stream"
)

// restoredBy is the metadata of a stream that says which restoration has made it.
const restoredBy = "sluice.restore"

// config returns the configuration that a stream is restored with. A backup may come
// from anywhere, so the only settings taken from it are those that the stream needs
// until a server starts and sets the rest.
func (r *Restoration) config(s backup.Stream) (jetstream.StreamConfig, error) {
	said, err := read(s)
	if err != nil {
		return said, err
	}
	config := jetstream.StreamConfig{
		Name: s.Name, Subjects: said.Subjects, MaxMsgsPerSubject: said.MaxMsgsPerSubject, AllowDirect: said.AllowDirect,
	}
	if bucket, ok := strings.CutPrefix(s.Name, stream.BucketPrefix); ok {
		config = stream.BucketConfig(bucket)
	}
	config.MaxBytes, config.Metadata = -1, map[string]string{restoredBy: r.id}
	if markers := stream.DeliveryPrefix + ">"; s.Name == stream.Events && !r.host.SoleWriter &&
		!slices.Contains(config.Subjects, markers) {
		config.Subjects = append(config.Subjects, markers)
	}
	return r.host.Config(config), nil
}

// CheckSubjects refuses a stream that would take messages of other programs.
func CheckSubjects(s backup.Stream) error {
	_, err := read(s)
	return err
}

// read returns the configuration in a backup, if its subjects are sluice's.
func read(s backup.Stream) (said jetstream.StreamConfig, err error) {
	if err := json.Unmarshal(s.Config, &said); err != nil {
		return said, err
	}
	bucket, isBucket := strings.CutPrefix(s.Name, stream.BucketPrefix)
	for _, subject := range said.Subjects {
		if isBucket && subject != stream.BucketSubjects+bucket+".>" ||
			!isBucket && !strings.HasPrefix(subject, stream.OurSubjects) {
			return said, Foreign("the subject %s of the stream %s", subject, s.Name)
		}
	}
	return said, nil
}

// Foreign is the error of a backup with something in it that is not sluice's.
func Foreign(format string, args ...any) error {
	return sluice.CodeBackupForeign.Errorf("The backup has something that is not sluice's: "+format+
		". Restore one that sluice backup of this version, or an earlier one, has made.", args...)
}
