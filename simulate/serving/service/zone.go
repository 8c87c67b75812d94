package service

import (
	"time"

	"capcli/scenarios/strict"
)

// ReadZone returns a reader of a time zone.
func ReadZone(dst **time.Location) strict.Reader { return readZone(dst) }
