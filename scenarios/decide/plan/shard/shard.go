// Package shard cuts a numbered list of independent work into shards that several processes compute
// into one folder, and merges their files. The head of a shard names all that its outcomes depend
// on. A file carries a checksum, and a journal keeps the finished pieces of an attempt that did not
// end.
package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Max is the most shards of a sweep: the most completions of a Kubernetes job.
const Max = 100_000

// schema names the form of a shard file.
const schema = "capcli/plan-shard/v1"

// A Shard is part Index, from 0, of a sweep that is cut into Count parts. A sweep is a numbered
// list of pieces of work, each a simulation run or a few, whose outcomes do not depend on each
// other. A shard has every Count-th piece, so sizes differ by one piece at most, and neighbours in
// the list, which take about equally long, are in different shards. The pieces of a shard depend on
// the two numbers and the length of the list alone.
type Shard struct{ Index, Count int }

// Check returns an error where the numbers are out of range.
func (s Shard) Check() error {
	if s.Count < 1 || s.Count > Max {
		return fmt.Errorf("expected 1 to %d shards, found %d", Max, s.Count)
	}
	if s.Index < 0 || s.Index >= s.Count {
		return fmt.Errorf("of %d shards expected one from 0 to %d, found %d", s.Count, s.Count-1, s.Index)
	}
	return nil
}

// size returns how many of total pieces are in s.
func (s Shard) size(total int) int {
	if total <= s.Index {
		return 0
	}
	return (total-1-s.Index)/s.Count + 1
}

// numbers yields the numbers of the pieces in s, of total pieces, in order.
func (s Shard) numbers(total int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := s.Index; i < total && i >= 0; i += s.Count {
			if !yield(i) {
				return
			}
		}
	}
}

// Name returns the name of the file of s: shard-003-of-064.json.
func (s Shard) Name() string { return s.stem() + ".json" }

// journalName returns the name of the n-th journal of s. Each unfinished attempt at s leaves one.
func (s Shard) journalName(n int) string { return s.stem() + ".journal-" + strconv.Itoa(n) }

func (s Shard) stem() string { return fmt.Sprintf("shard-%03d-of-%03d", s.Index, s.Count) }

// parseName returns the shard that a file name belongs to, and whether the file is a journal. known
// is false for a name that neither Name nor journalName returns.
func parseName(name string) (s Shard, journal, known bool) {
	stem, ending, _ := strings.Cut(name, ".")
	index, count, ok := strings.Cut(strings.TrimPrefix(stem, "shard-"), "-of-")
	if !ok {
		return s, false, false
	}
	var failed error
	if s.Index, failed = strconv.Atoi(index); failed != nil {
		return s, false, false
	}
	if s.Count, failed = strconv.Atoi(count); failed != nil || s.Check() != nil {
		return s, false, false
	}
	if name == s.Name() {
		return s, false, true
	}
	n, failed := strconv.Atoi(strings.TrimPrefix(ending, "journal-"))
	return s, true, failed == nil && n >= 0 && name == s.journalName(n)
}

// A Head names what the outcomes in a shard depend on.
type Head struct {
	Schema  string   `json:"schema"`
	Version string   `json:"version"` // of the program
	Shards  int      `json:"shards"`
	Shard   int      `json:"shard"`
	Pieces  int      `json:"pieces"` // number of pieces in all shards
	Args    []string `json:"args"`   // the command line, without the arguments that only say where a result goes
	Inputs  []Input  `json:"inputs"` // every file that was read, by name
	Digest  string   `json:"digest"` // over all the above but Shard
}

// Document is the file of a shard: its head, what came of each of its pieces, and the SHA-256 of all
// before it.
type Document struct {
	Head
	Outcomes []json.RawMessage `json:"outcomes"`
	SHA256   string            `json:"sha256"`
}

// An Input is a file that the outcomes depend on.
type Input struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// NewHead returns the head of shard s.
func NewHead(s Shard, version string, pieces int, args []string, inputs []Input) Head {
	h := Head{
		Schema: schema, Version: version, Shards: s.Count, Shard: s.Index, Pieces: pieces,
		Args: append([]string{}, args...), Inputs: append([]Input{}, inputs...),
	}
	h.Digest = h.digest()
	return h
}

// ShardOf returns the shard with the head h.
func (h *Head) ShardOf() Shard { return Shard{Index: h.Shard, Count: h.Shards} }

// digest returns the SHA-256 of the fields that all shards of a sweep share.
func (h *Head) digest() string {
	c := *h
	c.Shard, c.Digest = 0, ""
	b, err := json.Marshal(&c)
	if err != nil {
		panic(err) // strings and numbers only
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// differences returns the differences that put two heads in different sweeps; empty where they are
// of one sweep.
func (h *Head) differences(other *Head) []string {
	var out []string
	if h.Version != other.Version {
		out = append(out, fmt.Sprintf("version of capcli (%s and %s)", h.Version, other.Version))
	}
	if h.Shards != other.Shards {
		out = append(out, fmt.Sprintf("number of shards (%d and %d)", h.Shards, other.Shards))
	}
	if h.Pieces != other.Pieces {
		out = append(out, fmt.Sprintf("number of pieces (%d and %d)", h.Pieces, other.Pieces))
	}
	if !slices.Equal(h.Args, other.Args) {
		one, two := subtract(h.Args, other.Args), subtract(other.Args, h.Args)
		out = append(out, fmt.Sprintf("command line (%s and %s)", words(one), words(two)))
	}
	out = append(out, differentInputs(h.Inputs, other.Inputs)...)
	if len(out) == 0 && h.Digest != other.Digest {
		out = append(out, "digest of the inputs")
	}
	return out
}

// differentInputs returns the files that differ between both lists.
func differentInputs(a, b []Input) []string {
	find := func(list []Input, name string) (string, bool) {
		i := slices.IndexFunc(list, func(in Input) bool { return in.Name == name })
		if i < 0 {
			return "", false
		}
		return list[i].SHA256, true
	}
	var out []string
	for _, in := range a {
		switch sum, ok := find(b, in.Name); {
		case !ok:
			out = append(out, "file "+in.Name+" (read by one only)")
		case sum != in.SHA256:
			out = append(out, "content of "+in.Name)
		}
	}
	for _, in := range b {
		if _, ok := find(a, in.Name); !ok {
			out = append(out, "file "+in.Name+" (read by one only)")
		}
	}
	return out
}

// subtract returns the elements of a that are not in b.
func subtract(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

func words(list []string) string {
	if len(list) == 0 {
		return "nothing more"
	}
	return strings.Join(list, " ")
}
