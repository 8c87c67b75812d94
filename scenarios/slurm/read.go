package slurm

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
)

// maxFile is the largest file that is read, in bytes, after gzip.
const maxFile = 256 << 20

// kind is a kind of file: how its name ends, or how it begins, and its reader.
type kind struct {
	name   string
	ends   string
	begins []string
	parse  func(*reader, *file) error
	reason string // of a kind that is not read: why, and what that may change
}

// file is a file with its kind.
type file struct {
	name string
	text string
	kind int
}

// kinds are the kinds of files, in the order in which they are read: a later one refers to earlier ones.
var kinds = []kind{
	{"scontrol show config", "", []string{"Configuration data as of"}, (*reader).showConfig, ""},
	{"slurm.conf", "slurm.conf", nil, (*reader).conf, ""},
	{"gres.conf", "gres.conf", nil, (*reader).gres, ""},
	{"scontrol show partition", "", []string{"PartitionName="}, nil, "slurm.conf says the same"},
	{"scontrol show node", "", []string{"NodeName="}, nil, "slurm.conf says the same, but for the state of nodes; a play has the drains of its events"},
	{"sacctmgr show qos", "", []string{"Name|"}, (*reader).showQOS, ""},
	{"sacctmgr dump", "", []string{"# To edit this file", "Cluster - "}, (*reader).dump, ""},
	{"sacctmgr show assoc", "", []string{"ID|Cluster|"}, (*reader).showAssocs, ""},
	{"sshare", "", []string{"Account|User|"}, (*reader).shares, ""},
	{"sdiag", "", []string{"*******"}, (*reader).sdiag, ""},
	{"scontrol show job", "", []string{"JobId=", "No jobs"}, (*reader).showJobs, ""},
	{"squeue", "", []string{"JOBID|"}, nil, "scontrol show job says the same"},
	{"submissions", "submitted.json expected.json", nil, (*reader).submissions, ""},
	{"scontrol show reservation", "", []string{"ReservationName=", "No reservations"}, nil, "starts on nodes that are reserved; a play has those of its events"},
	{"sacctmgr show tres", "", []string{"Type|Name|ID"}, nil, "names of resources; the other files name those that they use"},
	{"sacctmgr show user", "", []string{"User|"}, nil, "sacctmgr dump and show assoc say the same"},
	{"sacct", "", []string{"JobID|JobIDRaw|"}, nil, "jobs of the past: capcli import slurm reads them"},
	{"sinfo", "", []string{"NODELIST", "PARTITION", "HOSTNAMES"}, nil, "scontrol show node says the same"},
	{"squeue --json", "", []string{"{"}, nil, "scontrol show job says the same"},
}

// kindOf returns the kind of a file, or -1.
func kindOf(name, text string) int {
	head := strings.TrimLeft(text[:min(len(text), 200)], " \t\r\n")
	return slices.IndexFunc(kinds, func(k kind) bool {
		return slices.ContainsFunc(strings.Fields(k.ends), func(end string) bool { return strings.HasSuffix(path.Base(name), end) }) ||
			slices.ContainsFunc(k.begins, func(with string) bool { return strings.HasPrefix(head, with) })
	})
}

// accountLine is an entry of the account: a line of slurm.conf, a column of a table, or a whole file.
type accountLine struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Field  string `json:"field,omitempty"`
	Used   bool   `json:"used"`
	Effect string `json:"effect,omitempty"` // of what is ignored: what that may change
}

// folder is a folder of files; Read fails where one has more than most bytes.
type folder interface {
	Names() ([]string, error)
	Read(name string, most int64) ([]byte, error)
}

// reader reads the files of a site.
type reader struct {
	*site
	files     []*file
	seen      map[[2]string]bool // file and field of the account
	depth     int                // of includes
	defaults  map[string]map[string]string
	rootUsage float64 // of sshare
}

// readSite reads the files of a site, gzipped or not. Files of which there are several of one kind, like
// scontrol-job.txt and an earlier shot-scontrol-job.txt, are ignored but for the one with the shortest
// name. It fails with *capcli.InputError.
func readSite(dir folder) (*site, error) {
	names, err := dir.Names()
	if err != nil {
		return nil, err
	}
	r := &reader{site: &site{Settings: settings{}, byUser: map[[2]string]*assoc{}}, seen: map[[2]string]bool{}, defaults: map[string]map[string]string{}}
	for _, name := range names {
		b, err := dir.Read(name, maxFile)
		if err != nil {
			return nil, err
		}
		plain, err := trace.Unpack(trace.Input{Name: name, R: bytes.NewReader(b)})
		if err == nil {
			b, err = io.ReadAll(io.LimitReader(plain, maxFile+1))
		}
		if err == nil && len(b) > maxFile {
			err = &capcli.InputError{File: name, Text: fmt.Sprintf("expected at most %d MiB, found more", maxFile>>20)}
		}
		if err != nil {
			return nil, capcli.NameFile(err, name)
		}
		name = strings.TrimSuffix(name, ".gz")
		r.files = append(r.files, &file{name, string(b), kindOf(name, string(b))})
	}
	slices.SortStableFunc(r.files, func(a, b *file) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	for i, f := range r.files {
		switch {
		case f.kind < 0:
			r.account(f, 0, "", "not a file that this reader knows")
		case i > 0 && f.kind == r.files[i-1].kind:
			r.account(f, 0, "", "a second file of "+kinds[f.kind].name)
		case kinds[f.kind].parse == nil:
			r.account(f, 0, "", kinds[f.kind].reason)
		default:
			if err := kinds[f.kind].parse(r, f); err != nil {
				return nil, capcli.NameFile(err, f.name)
			}
		}
	}
	if len(r.Nodes) == 0 {
		return nil, &capcli.InputError{Text: "expected slurm.conf with lines NodeName=…, found no node", Hint: "copy slurm.conf and what it includes into the folder"}
	}
	r.complete()
	return r.site, nil
}

// account notes once what is made of a field: an empty effect is used.
func (r *reader) account(f *file, line int, field, effect string) {
	if key := [2]string{f.name, field}; !r.seen[key] {
		r.seen[key] = true
		r.Account = append(r.Account, accountLine{f.name, line, field, effect == "", effect})
	}
}

// note accounts for a field by its key: it is used where used has the key in lower case.
func (r *reader) note(f *file, line int, field, key, used string) {
	if r.seen[[2]string{f.name, field}] {
		return
	}
	effect := ""
	if key = strings.ToLower(key); !slices.Contains(strings.Fields(used), key) {
		effect = effectOf(key)
	}
	r.account(f, line, field, effect)
}

func fault(f *file, line int, field, format string, args ...any) error {
	return &capcli.InputError{File: f.name, Line: line, Field: field, Text: fmt.Sprintf(format, args...)}
}

// row is a record of a file: its fields by their keys in lower case. err is the first that was not as expected.
type row struct {
	f    *file
	line int
	v    map[string]string
	err  error
}

func (w *row) text(key string) string {
	if v := strings.TrimSpace(w.v[key]); v != "(null)" && v != "N/A" {
		return v
	}
	return ""
}

func (w *row) fail(key, want string) {
	if w.err == nil {
		w.err = fault(w.f, w.line, key, "expected %s, found %q", want, w.v[key])
	}
}

// int returns a number of at least 0; an empty one is otherwise.
func (w *row) int(key string, otherwise int64) int64 {
	text := w.text(key)
	if text == "" || strings.EqualFold(text, "UNLIMITED") {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		w.fail(key, "an integer of at least 0")
	}
	return n
}

// decimal returns a number of at least 0 that may have decimals.
func (w *row) decimal(key string, otherwise float64) float64 {
	if w.text(key) == "" {
		return otherwise
	}
	v, err := strconv.ParseFloat(w.text(key), 64)
	if err != nil || !(v >= 0) {
		w.fail(key, "a number of at least 0")
	}
	return v
}

// limit returns a length of time in seconds; 0 is without limit.
func (w *row) limit(key string) int64 {
	n, ok := parseLimit(w.text(key))
	if !ok && w.text(key) != "" {
		w.fail(key, "a length of time like 1-12:00:00 or UNLIMITED")
	}
	return n
}

// unix returns a time in seconds since 1970; what is none is 0.
func (w *row) unix(key string) int64 { return unix(w.text(key)) }

func unix(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0
	}
	return n
}

// hosts returns the names of a list of nodes.
func (w *row) hosts(key string) []string {
	names, ok := trace.ExpandHosts(w.text(key))
	if !ok || len(names) > maxNodes {
		w.fail(key, fmt.Sprintf("names or a list n[1-4] of at most %d nodes", maxNodes))
	}
	return names
}

func (w *row) list(key string) []string {
	return strings.FieldsFunc(w.text(key), func(c rune) bool { return c == ',' })
}

func (w *row) tres(key string) tres { return parseTRES(w.text(key)) }

// table calls use for each line of a table with a heading. Columns that are not in used are ignored.
func (r *reader) table(f *file, used string, use func(w *row) error) error {
	var head []string
	number := 0
	for text := range strings.Lines(f.text) {
		number++
		if text = strings.TrimRight(text, "\r\n"); strings.TrimSpace(text) == "" {
			continue
		}
		cells := strings.Split(text, "|")
		if head == nil {
			for _, h := range cells {
				head = append(head, strings.ToLower(strings.ReplaceAll(h, " ", "_")))
				r.note(f, number, h, head[len(head)-1], used)
			}
			continue
		}
		if len(cells) < len(head) {
			return fault(f, number, "", "expected %d columns, found %d", len(head), len(cells))
		}
		w := &row{f: f, line: number, v: map[string]string{}}
		for i, h := range head {
			w.v[h] = cells[i]
		}
		if err := cmp.Or(use(w), w.err); err != nil {
			return err
		}
	}
	return nil
}

// blocks calls use for each record of scontrol show: lines Key=Value, the first of which has the key first
// first. A word without = belongs to the value before it.
func (r *reader) blocks(f *file, first, used string, use func(w *row) error) error {
	var w *row
	number, last := 0, ""
	end := func() error {
		if w == nil {
			return nil
		}
		return cmp.Or(use(w), w.err)
	}
	for text := range strings.Lines(f.text) {
		number++
		for i, word := range strings.Fields(text) {
			key, value, ok := strings.Cut(word, "=")
			lower := strings.ToLower(key)
			switch {
			case ok && i == 0 && lower == first:
				if err := end(); err != nil {
					return err
				}
				w = &row{f: f, line: number, v: map[string]string{}}
			case w == nil:
				continue
			case !ok:
				w.v[last] += " " + word
				continue
			}
			if _, twice := w.v[lower]; twice {
				continue
			}
			w.v[lower], last = value, lower
			r.note(f, number, key, key, used)
		}
	}
	return end()
}
