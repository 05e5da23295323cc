package portal

import (
	"net/http"

	"sluice"
)

const maxStreams = 256 // live streams at the same time

func (p *Portal) live(w http.ResponseWriter, r *http.Request) error {
	return sluice.Errorf(sluice.NotFound, "not-found", "There is nothing live yet.")
}
