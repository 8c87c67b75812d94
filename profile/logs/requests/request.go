package requests

import (
	"fmt"

	"capcli"
	"capcli/profile/logs/trace"
)

// Request says how to read a trace, in the words of flags. Parse converts it to Options.
type Request struct {
	Format  string   // name in Formats; "" and auto find it
	TZ      string   // zone of times without one, such as Europe/Berlin; "" is UTC
	Times   string   // unit of times that are numbers: s, ms, us or ns; "" tells it from column and size
	Map     []string // pairs of our column=their column
	SkipBad bool     // leave out rows that are not valid
}

// Parse returns the options that the request asks for. It fails with a *capcli.RequestError or a
// *capcli.UnknownError.
func (q *Request) Parse() (Options, error) {
	out := Options{Format: q.Format, SkipBad: q.SkipBad}
	if q.Format == "auto" {
		out.Format = ""
	}
	if out.Format != "" {
		if _, err := Formats.Get(out.Format); err != nil {
			return out, err
		}
	}
	var known bool
	if out.Unit, known = trace.EpochUnits[q.Times]; !known {
		return out, &capcli.RequestError{Field: "times", Text: fmt.Sprintf("wants s, ms, us or ns, found %q", q.Times)}
	}
	var err error
	if out.TZ, err = trace.ParseZone(q.TZ); err != nil {
		return out, err
	}
	out.Map, err = trace.ParseMap(q.Map, Columns, "tokens_in=prompt")
	return out, err
}
