package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"capcli"
)

// slurmNumber is a number of Slurm's JSON: plain up to 22.05, and since then {set, infinite, number}. Of some
// fields it is a text.
type slurmNumber struct {
	n       int64
	isKnown bool
	text    string
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *slurmNumber) UnmarshalJSON(b []byte) error {
	*s = slurmNumber{}
	switch {
	case string(b) == "null" || string(b) == "true" || string(b) == "false":
		return nil
	case b[0] == '"':
		if err := json.Unmarshal(b, &s.text); err != nil {
			return err
		}
		n, err := strconv.ParseInt(s.text, 10, 64)
		s.n, s.isKnown = n, err == nil
		return nil
	case b[0] == '{':
		var parts struct {
			Set      *bool       `json:"set"`
			Infinite bool        `json:"infinite"`
			Number   json.Number `json:"number"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		if parts.Infinite || parts.Set != nil && !*parts.Set {
			return nil
		}
		b = []byte(parts.Number)
	}
	if len(b) == 0 {
		return nil
	}
	n, _, bad := fixed(b, 1)
	if bad != flawless {
		return &json.UnmarshalTypeError{Value: shorten(b), Type: reflect.TypeFor[int64]()}
	}
	// 4294967294 and 4294967295 are NO_VAL and INFINITE in fields of 32 bits.
	s.n, s.isKnown = n, n != math.MaxUint32 && n != math.MaxUint32-1
	return nil
}

// append appends the number, or nothing where it is not known.
func (s slurmNumber) append(b []byte) []byte {
	if !s.isKnown {
		return b
	}
	return strconv.AppendInt(b, s.n, 10)
}

// slurmWords is a text or a list of texts, of which the first counts.
type slurmWords string

// UnmarshalJSON implements json.Unmarshaler.
func (s *slurmWords) UnmarshalJSON(b []byte) error {
	var list []string
	switch {
	case string(b) == "null":
		return nil
	case b[0] != '[':
		return json.Unmarshal(b, (*string)(s))
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if len(list) > 0 {
		*s = slurmWords(list[0])
	}
	return nil
}

// slurmNotes is texts by their kind, such as the comments of a job. Some versions have one text.
type slurmNotes map[string]string

// UnmarshalJSON implements json.Unmarshaler. It skips what is no text.
func (s *slurmNotes) UnmarshalJSON(b []byte) error {
	*s = slurmNotes{}
	if b[0] == '"' {
		var text string
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
		(*s)[""] = text
		return nil
	}
	var parts map[string]json.RawMessage
	if b[0] != '{' {
		return nil
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for kind, raw := range parts {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			(*s)[kind] = text
		}
	}
	return nil
}

// text returns the text of a kind. One text is that of a job, or the only one.
func (s slurmNotes) text(kind string) []byte {
	if one := s[""]; one != "" && (kind == "job" || kind == "wckey") {
		return []byte(one)
	}
	return []byte(s[kind])
}

// slurmTRES is one resource of a list.
type slurmTRES struct {
	Type  string      `json:"type"`
	Name  string      `json:"name"`
	Count slurmNumber `json:"count"`
}

// accountedJob is a job as sacct --json prints it (Slurm 20.11 to 26.05).
type accountedJob struct {
	ID        slurmNumber `json:"job_id"`
	Cluster   string      `json:"cluster"`
	Account   string      `json:"account"`
	User      string      `json:"user"`
	Partition string      `json:"partition"`
	Name      string      `json:"name"`
	QOS       string      `json:"qos"`
	WCKey     slurmNotes  `json:"wckey"`
	Comment   slurmNotes  `json:"comment"`
	Nodes     string      `json:"nodes"`
	NodeCount slurmNumber `json:"allocation_nodes"`
	Priority  slurmNumber `json:"priority"`
	Array     struct {
		ID     slurmNumber `json:"job_id"`
		TaskID slurmNumber `json:"task_id"`
		Task   string      `json:"task"`
	} `json:"array"`
	Het struct {
		ID     slurmNumber `json:"job_id"`
		Offset slurmNumber `json:"job_offset"`
	} `json:"het"`
	State struct {
		Current slurmWords `json:"current"`
	} `json:"state"`
	Time struct {
		Elapsed    slurmNumber `json:"elapsed"`
		Eligible   slurmNumber `json:"eligible"`
		End        slurmNumber `json:"end"`
		Start      slurmNumber `json:"start"`
		Submission slurmNumber `json:"submission"`
		Limit      slurmNumber `json:"limit"`
	} `json:"time"`
	Required struct {
		CPUs slurmNumber `json:"CPUs"`
	} `json:"required"`
	TRES struct {
		Allocated []slurmTRES `json:"allocated"`
		Requested []slurmTRES `json:"requested"`
	} `json:"tres"`
}

// accountedFields are the fields of sacct that an accountedJob is read as, in this order.
var accountedFields = []string{
	"JobID", "JobIDRaw", "Cluster", "Account", "User", "Partition", "JobName", "QOS", "State", "Submit", "Eligible", "Start", "End",
	"ElapsedRaw", "TimelimitRaw", "Priority", "AllocNodes", "NodeList", "NCPUS", "AllocTRES", "ReqTRES",
	"WCKey", "Comment", "AdminComment", "SystemComment",
}

func (j *accountedJob) cells() [][]byte {
	num := func(n slurmNumber) []byte { return n.append(nil) }
	// A time of 0 is one that has not come.
	at := func(n slurmNumber) []byte {
		if n.n == 0 {
			return nil
		}
		return n.append(nil)
	}
	return [][]byte{
		[]byte(j.id()), num(j.ID), []byte(j.Cluster), []byte(j.Account), []byte(j.User), []byte(j.Partition), []byte(j.Name),
		[]byte(j.QOS), []byte(j.State.Current), at(j.Time.Submission), at(j.Time.Eligible), at(j.Time.Start), at(j.Time.End),
		num(j.Time.Elapsed), num(j.Time.Limit), num(j.Priority), num(j.NodeCount), []byte(j.Nodes), num(j.Required.CPUs),
		tresText(j.TRES.Allocated), tresText(j.TRES.Requested),
		j.WCKey.text("wckey"), j.Comment.text("job"), j.Comment.text("administrator"), j.Comment.text("system"),
	}
}

// id returns the id as sacct -P prints it: 5_3 for a task of an array, 11+1 for a component.
func (j *accountedJob) id() string {
	switch {
	case j.Het.ID.isKnown && j.Het.ID.n > 0:
		return fmt.Sprintf("%d+%d", j.Het.ID.n, j.Het.Offset.n)
	case !j.Array.ID.isKnown || j.Array.ID.n <= 0:
	case j.Array.TaskID.isKnown:
		return fmt.Sprintf("%d_%d", j.Array.ID.n, j.Array.TaskID.n)
	case j.Array.Task != "":
		return fmt.Sprintf("%d_[%s]", j.Array.ID.n, strings.Trim(j.Array.Task, "[]"))
	}
	return string(j.ID.append(nil))
}

// tresText returns resources as sacct -P prints them: cpu=4,mem=800M,gres/gpu:a100=2.
func tresText(list []slurmTRES) []byte {
	var b []byte
	for _, t := range list {
		if !t.Count.isKnown || t.Type == "" {
			continue
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(b, t.Type...)
		if t.Name != "" {
			b = append(append(b, '/'), t.Name...)
		}
		b = t.Count.append(append(b, '='))
		if t.Type == "mem" {
			b = append(b, 'M')
		}
	}
	return b
}

func sniffSacctJSON(head []byte) bool {
	text := beginsJSON(head)
	return len(text) > 0 && text[0] == '{' && bytes.Contains(text, []byte(`"submission"`)) && bytes.Contains(text, []byte(`"job_id"`))
}

// readSacctJSON reads the jobs of sacct --json as rows of sacct -P.
func readSacctJSON(r *Reader) error {
	t := &table{r: r, Fields: capcli.Fields{Separator: '|', Bare: true}, names: accountedFields}
	s, err := newSacct(r, t)
	if err != nil {
		return err
	}
	return r.eachObject("jobs", "sacct --json", func(raw []byte, line int) (bool, error) {
		t.line, t.Raw = line, raw
		if !unicodeJSON(raw) {
			return r.Reject(line, raw, "not valid UTF-8"), nil
		}
		var j accountedJob
		if err := json.Unmarshal(raw, &j); err != nil {
			return r.Reject(line, raw, jsonFlaw(err)), nil
		}
		t.Row = j.cells()
		return s.row()
	}, s.drain)
}

// eachObject calls each with the objects of the text: those of the list in an outer object, or of an array, or
// one after another. It calls end after the last; nil is nothing. each reports whether reading goes on.
func (r *Reader) eachObject(list, command string, each func(raw []byte, line int) (bool, error), end func() error) error {
	in := capcli.NewObjectReader(r.text, list, 1)
	for {
		more, err := in.Next()
		var bad *capcli.InputError
		switch {
		case errors.As(err, &bad):
			return r.fault(bad.Line, "", bad.Text, "check that this is what "+command+" printed")
		case err != nil:
			return r.endError()
		case !more && in.Ended != "":
			if err := r.endError(); err != nil {
				return err
			}
			if err := r.CutShort(in.Ended); err != nil {
				return err
			}
		}
		if !more && end != nil {
			return end()
		}
		if !more {
			return nil
		}
		if more, err = each(in.Raw, in.Line); err != nil || !more {
			return err
		}
	}
}

// jsonFlaw returns the reason to reject an object that cannot be read.
func jsonFlaw(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Sprintf("%s: want %s, found %s", kind.Field, kind.Type, kind.Value)
	}
	return "not valid JSON: " + err.Error()
}

// beginsJSON returns head without a leading byte-order mark and blanks.
func beginsJSON(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
}
