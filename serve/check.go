package serve

import (
	"sluice/durable"
	"sluice/jetstream"
)

// Check reads all that the embedded engine has stored in a data folder which no
// server uses, and tells what is damaged. With accept the next start takes what is
// left for all there was. read is told how many bytes were read, of how many.
func Check(data string, accept bool, read func(done, total int64)) (findings []string, err error) {
	folder, err := durable.OpenExisting(data)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	findings, err = jetstream.Check(folder.Store(), read)
	if err == nil && accept {
		err = jetstream.AcceptDamage(folder.Store())
	}
	return findings, err
}
