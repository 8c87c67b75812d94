package demand

import (
	"fmt"

	"capcli"
)

// SetLevels reads the cap and the past capacity of the request: numbers or names of files.
// A cap is a promise about the future, and a past capacity is the reason why usage was
// not demand. A number in capacity is a cap, and a file in it is the past capacity. It
// fails with *capcli.RequestError, also where two texts say the same thing.
func (r *Request) SetLevels(capacity, past, limit string) error {
	r.Cap, r.Past = Level{}, Level{}
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
		return &capcli.RequestError{Text: fmt.Sprintf("--capacity %s and --cap %s say the same thing", capacity, limit), Hint: "give one of them; the GPUs that there were are --past-capacity"}
	case l.File == "":
		r.Cap = l
	case r.Past.IsGiven() || r.CapacityQuery != "":
		return &capcli.RequestError{Text: fmt.Sprintf("--capacity %s and --past-capacity %s say the same thing", capacity, past), Hint: "give one of them; a bound on the forecast is --cap"}
	default:
		r.Past = l
	}
	return nil
}
