package trace

import (
	"fmt"
	"strings"
	"time"

	"capcli"
)

// Request says how to read a job log, in the words of flags and JSON. Parse converts it to
// Options.
type Request struct {
	Format   string   `json:"format,omitempty"`     // name in Formats, or slurm for sacct; "" and auto detect the format
	TZ       string   `json:"tz,omitempty"`         // zone of times without a zone, such as Europe/Berlin; "" is none
	DST      string   `json:"dst,omitempty"`        // pass of a repeated hour: earlier, the default, or later
	Times    string   `json:"times,omitempty"`      // unit of times that are numbers: s, ms, us or ns; "" tells it from their size
	Dates    string   `json:"dates,omitempty"`      // order of dates whose year comes last: dmy or mdy; "" tells it from the dates
	Map      []string `json:"map,omitempty"`        // pairs of our column=their column, separated by commas
	Tags     []string `json:"tags,omitempty"`       // tags to read, separated by commas: project, or project:COLUMN
	Columns  string   `json:"columns_in,omitempty"` // columns of a sacct dump without a header, separated by commas
	AllowCut bool     `json:"allow_cut,omitempty"`  // accept a truncated log and read what is there
}

// IsEmpty reports whether the request has no setting.
func (q *Request) IsEmpty() bool {
	return q.Format == "" && q.TZ == "" && q.DST == "" && q.Times == "" && q.Dates == "" && q.Columns == "" && !q.AllowCut && len(q.Map) == 0 && len(q.Tags) == 0
}

// Parse returns the options that the request asks for. It fails with
// *capcli.RequestError, and for an unknown format or column with *capcli.UnknownError.
func (q *Request) Parse() (Options, error) {
	out := Options{Format: q.Format, AllowCut: q.AllowCut, DSTLater: q.DST == "later"}
	switch q.Format {
	case "", "auto":
		out.Format = ""
	case "sinfo":
		out.Format = "squeue"
	case "slurm":
		out.Format = "sacct"
	default:
		if _, err := Formats.Get(q.Format); err != nil {
			return out, err
		}
	}
	if q.DST != "" && q.DST != "earlier" && q.DST != "later" {
		return out, &capcli.RequestError{Field: "dst", Text: fmt.Sprintf("wants earlier or later, found %q", q.DST)}
	}
	var known bool
	if out.Unit, known = EpochUnits[q.Times]; !known {
		return out, &capcli.RequestError{Field: "times", Text: fmt.Sprintf("wants s, ms, us or ns, found %q", q.Times)}
	}
	if out.Dates, known = capcli.ParseDateOrder(q.Dates); !known {
		return out, &capcli.RequestError{Field: "dates", Text: fmt.Sprintf("wants dmy or mdy, found %q", q.Dates)}
	}
	var err error
	if out.TZ, err = ParseZone(q.TZ); err != nil {
		return out, err
	}
	if out.Map, err = ParseMap(q.Map, Columns, "submit=created_at"); err != nil {
		return out, err
	}
	if out.Tags, err = parseTags(q.Tags); err != nil {
		return out, err
	}
	for c := range strings.SplitSeq(q.Columns, ",") {
		if c = strings.TrimSpace(c); c != "" {
			out.Columns = append(out.Columns, c)
		}
	}
	return out, nil
}

// ParseZone returns the time zone called name, and nil for "". It fails with a
// *capcli.RequestError for an unknown name, and for "local": a result must not depend on the
// machine on which it was made.
func ParseZone(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no zone given is no error
	}
	loc, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return nil, &capcli.RequestError{Field: "tz", Text: fmt.Sprintf(": unknown time zone %q", name), Hint: "name it as Area/City: Europe/Berlin, America/New_York, or UTC"}
	}
	return loc, nil
}

// ParseMap parses pairs such as submit=created_at,gpus=n into a map from our column, one of columns, to
// theirs; no pairs give nil. It fails for an unknown or a repeated column of ours. example is a pair for errors.
func ParseMap(pairs, columns []string, example string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil //nolint:nilnil // no map given is no error
	}
	out := map[string]string{}
	for pair := range strings.SplitSeq(strings.Join(pairs, ","), ",") {
		ours, theirs, ok := strings.Cut(pair, "=")
		ours, theirs = strings.TrimSpace(ours), strings.TrimSpace(theirs)
		if !ok || ours == "" || theirs == "" {
			return nil, &capcli.RequestError{Field: "map", Text: fmt.Sprintf("wants ours=theirs, found %q", pair), Hint: "for example --map " + example}
		}
		if err := capcli.CheckChoice("column for --map", ours, columns); err != nil {
			return nil, err
		}
		if _, twice := out[ours]; twice {
			return nil, &capcli.RequestError{Field: "map", Text: fmt.Sprintf("names %s twice", ours)}
		}
		out[ours] = theirs
	}
	return out, nil
}
