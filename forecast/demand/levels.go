package demand

import (
	"fmt"

	"capcli"
)

// SetLevels sets the cap, the past capacity and the capacity ahead of the request from texts, each
// a number or the name of a file; past may also be "measured". The cap, limit, bounds the
// forecast. The past capacity limited usage, so that usage was not demand. capacity is the
// capacity ahead if it is a number, and a past capacity if it is a file. SetLevels fails with a *capcli.RequestError, also where two
// texts set the same level.
func (r *Request) SetLevels(capacity, past, limit string) error {
	r.Cap, r.Past, r.Ahead = Level{}, Level{}, 0
	var err error
	if limit != "" {
		if r.Cap, err = parseLevel("cap", limit); err != nil {
			return err
		}
	}
	switch {
	case past == measuredText:
		r.Past.Measured = true
	case past != "":
		if r.Past, err = parseLevel("past-capacity", past); err != nil {
			return err
		}
	}
	if capacity == "" {
		return nil
	}
	l, err := parseLevel("capacity", capacity)
	switch {
	case err != nil:
		return err
	case l.File == "" && r.Cap.IsGiven():
		return &capcli.RequestError{Text: fmt.Sprintf("--capacity %s and --cap %s are two capacities ahead", capacity, limit), Hint: "give one of them: --capacity asks when it is full, --cap also cuts the forecast there; the GPUs that there were are --past-capacity"}
	case l.File == "":
		r.Ahead = l.GPUs
	case r.Past.IsGiven() || r.CapacityQuery != "":
		return &capcli.RequestError{Text: fmt.Sprintf("--capacity %s and --past-capacity %s say the same thing", capacity, past), Hint: "give one of them; a bound on the forecast is --cap"}
	default:
		r.Past = l
	}
	return nil
}
