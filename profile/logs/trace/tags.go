package trace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"capcli"
)

// tagMark begins the name of a column that is a tag: tag_project is the tag project. tag:project is
// read too.
const tagMark = "tag_"

// TagColumn returns the name of the column of a jobs file that holds a tag.
func TagColumn(tag string) string { return tagMark + tag }

// tagOfColumn returns the tag that a column holds by its name; "" for another column.
func tagOfColumn(column string) string {
	if len(column) > len(tagMark) && (strings.EqualFold(column[:len(tagMark)], tagMark) || strings.EqualFold(column[:len(tagMark)], "tag:")) {
		if name := strings.TrimSpace(column[len(tagMark):]); capcli.CheckTagName(name) == "" {
			return name
		}
	}
	return ""
}

// TagWish is a tag that the user asks for: the tag Name is in the column Column, or in the label of
// that name.
type TagWish struct{ Name, Column string }

// parseTags parses wishes such as project, or project:Account for the tag project in the column
// Account. It fails for a bad or a repeated name, and for more than capcli.MaxTags.
func parseTags(lists []string) ([]TagWish, error) {
	var out []TagWish
	for word := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		name, column, _ := strings.Cut(strings.TrimSpace(word), ":")
		if name == "" && column == "" {
			continue
		}
		why := capcli.CheckTagName(name)
		switch {
		case why != "":
		case slices.ContainsFunc(out, func(w TagWish) bool { return w.Name == name }):
			why = "it is named twice"
		case len(out) == capcli.MaxTags:
			why = fmt.Sprintf("at most %d tags are read", capcli.MaxTags)
		}
		if why != "" {
			return nil, &capcli.RequestError{Field: "tag", Text: fmt.Sprintf("%s: %s", capcli.Quoted(word), why), Hint: "for example --read tag=project,team, or tag=project:Account for the tag project in the column Account"}
		}
		out = append(out, TagWish{name, column})
	}
	return out, nil
}

// columns returns the names of the columns that may hold the tag, best first.
func (w *TagWish) columns() []string {
	if w.Column != "" {
		return []string{w.Column}
	}
	return []string{tagMark + w.Name, "tag:" + w.Name, w.Name}
}

// Tagger makes the tags of rows that have the same columns.
type Tagger struct {
	r      *Reader
	sets   capcli.TagSets
	names  []string // of the tags
	places []int    // by tag: index of its column
	wckey  int      // tag that is Slurm's workload characterisation key; -1 is none
	values [][]byte
	texts  []string
}

// Tagger returns what makes the tags of rows with these columns, or of objects with these labels: the tags of Options.Tags, or without
// any those in columns that are called tag_NAME. Every such column is passed to used. It returns nil
// where there are none, and fails where a tag that was asked for has no column.
func (r *Reader) Tagger(columns []string, used func(column int)) (*Tagger, error) {
	t := &Tagger{r: r, wckey: -1}
	for _, w := range r.o.Tags {
		at := capcli.FindColumn(columns, w.columns()...)
		if at < 0 {
			return nil, r.noTag(&w, columns, "column or label")
		}
		if strings.EqualFold(columns[at], "WCKey") {
			t.wckey = len(t.names)
		}
		t.names, t.places = append(t.names, w.Name), append(t.places, at)
	}
	for i, c := range columns {
		if name := tagOfColumn(c); name != "" && len(r.o.Tags) == 0 && len(t.names) < capcli.MaxTags {
			t.names, t.places = append(t.names, name), append(t.places, i)
		}
	}
	if t.names == nil {
		return nil, nil //nolint:nilnil // a log without tags is no error
	}
	for _, i := range t.places {
		if used != nil {
			used(i)
		}
	}
	t.setNames()
	return t, nil
}

func (t *Tagger) setNames() {
	t.sets.SetNames(t.names)
	t.values, t.texts = make([][]byte, len(t.names)), make([]string, len(t.names))
	names := slices.Clone(t.names)
	slices.Sort(names)
	t.r.tagNames = slices.Compact(names)
}

// noTag returns the error for a tag that no column or label of the log holds.
func (r *Reader) noTag(w *TagWish, have []string, what string) error {
	name := w.Name
	if w.Column != "" {
		name = w.Column
	}
	const most = 40
	list := strings.Join(have[:min(len(have), most)], ", ")
	if len(have) > most {
		list += fmt.Sprintf(" and %d more", len(have)-most)
	}
	near := slices.Clone(have)
	for _, c := range have {
		if tag := tagOfColumn(c); tag != "" {
			near = append(near, tag)
		}
	}
	return r.fault(0, "", fmt.Sprintf("there is no %s %q for the tag %s; there are %s%s", what, name, w.Name, list, capcli.DidYouMean(name, near)),
		"correct --read tag="+w.Name+"; tag=NAME:COLUMN reads a tag from a column of another name")
}

// Columns returns the tags in their order, each with the index of its column.
func (t *Tagger) Columns() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i, name := range t.names {
			if !yield(name, t.places[i]) {
				return
			}
		}
	}
}

// Row returns the tags of a row, given its cells by column. A nil Tagger has no tags.
func (t *Tagger) Row(cells [][]byte) *capcli.Tags {
	if t == nil {
		return nil
	}
	for i, at := range t.places {
		t.values[i] = cells[at]
	}
	if t.wckey >= 0 { // Slurm marks the default key of a user with a star
		t.values[t.wckey] = bytes.TrimPrefix(t.values[t.wckey], []byte{'*'})
	}
	tags, flaw := t.sets.Find(t.values)
	t.r.noteTags(flaw)
	return tags
}

// Texts is Row with the text of each column that used was given, by text.
func (t *Tagger) Texts(text func(column int) string) *capcli.Tags {
	if t == nil {
		return nil
	}
	for i, at := range t.places {
		t.texts[i] = text(at)
	}
	tags, flaw := t.sets.FindTexts(t.texts)
	t.r.noteTags(flaw)
	return tags
}

// keyTagger makes the tags of objects, whose keys say what they hold.
type keyTagger struct {
	Tagger
	places map[string]int // by key: index of the tag
	ranks  []int          // by tag: the rank of the key that its value is from; the lowest counts
	found  []bool         // by tag: some object has it
}

func (t *keyTagger) begin(r *Reader) {
	t.r, t.places = r, map[string]int{}
	for _, w := range r.o.Tags {
		t.add(w.Name, w.columns())
	}
	t.setNames()
}

// add adds a tag, which is under any of the keys.
func (t *keyTagger) add(name string, keys []string) {
	for _, k := range keys {
		t.places[k] = len(t.names)
	}
	t.names, t.ranks, t.found = append(t.names, name), append(t.ranks, 0), append(t.found, false)
}

// put sets the tag that is under key. It reports whether there is one.
func (t *keyTagger) put(key, value []byte) bool {
	at, known := t.places[string(key)]
	if !known {
		name := tagOfColumn(string(key))
		if name == "" || len(t.r.o.Tags) > 0 || len(t.names) == capcli.MaxTags {
			return false
		}
		at = len(t.names)
		t.add(name, []string{string(key)})
		values := t.values
		t.setNames()
		copy(t.values, values)
	}
	t.found[at] = true
	// A key such as tag_project goes before one that is called project.
	if rank := 1 + min(1, len(t.names[at])/len(key)); t.ranks[at] == 0 || rank < t.ranks[at] {
		t.values[at], t.ranks[at] = value, rank
	}
	return true
}

// clear forgets the values of the object before.
func (t *keyTagger) clear() {
	clear(t.values)
	clear(t.ranks)
}

func (t *keyTagger) row() *capcli.Tags {
	tags, flaw := t.sets.Find(t.values)
	t.r.noteTags(flaw)
	return tags
}

// check fails where no object has a tag that was asked for. unknown are the other keys.
func (t *keyTagger) check(unknown map[string]bool) error {
	for i := range t.r.o.Tags {
		if !t.found[i] && t.r.rep.Kept > 0 {
			return t.r.noTag(&t.r.o.Tags[i], slices.Concat(Columns, slices.Sorted(maps.Keys(unknown))), "key")
		}
	}
	return nil
}

// noteTags counts what could not be kept of a row's tags.
func (r *Reader) noteTags(flaw capcli.TagFlaw) {
	switch flaw {
	case capcli.TagCut:
		r.Assume(fmt.Sprintf("a tag has over %d bytes: cut there", capcli.MaxTagValue))
	case capcli.TagsOther:
		r.Assume(fmt.Sprintf("over %s different sets of tags: the tags of the others are read as %s; leave out a tag that is different for each job",
			capcli.Grouped(int64(capcli.MaxTagSets)), capcli.OtherTag))
	case capcli.TagsWhole:
	}
}

// TagNames returns the names of the tags that the log may have, as far as they are known, in order.
func (r *Reader) TagNames() []string { return r.tagNames }

// ErrTags is the error of a job with a tag in a file without a column for that tag.
var ErrTags = errors.New("a job has a tag, and the file has no column for it")

// Extra are the columns of a jobs file beside those that every one has.
type Extra struct {
	Eligible bool     // a column for the times at which jobs became eligible
	GPUMem   bool     // a column for the memory that jobs take of each GPU; it comes after that of eligible times
	Stages   bool     // columns for what jobs wait for, and for their workflow and stage
	Tags     []string // tags, each with a column of its own

	last *capcli.Tags // has no other tags
}

// AddAll adds the columns that jobs need. It fails with the first error in jobs.
func (x *Extra) AddAll(jobs capcli.Jobs) error {
	for job, err := range jobs {
		if err != nil {
			return err
		}
		x.Eligible, x.GPUMem = x.Eligible || job.Eligible > job.Submit, x.GPUMem || job.GPUMemMiB > 0
		x.Stages = x.Stages || job.Stage != nil
		if job.Tags == x.last {
			continue
		}
		x.last = job.Tags
		for _, t := range job.Tags.All() {
			if at, has := slices.BinarySearch(x.Tags, t.Name); !has {
				x.Tags = slices.Insert(x.Tags, at, t.Name)
			}
		}
	}
	return nil
}

// Has reports whether the file has one of the last of Columns, which not every file has.
func (x *Extra) Has(column string) bool {
	switch column {
	case "eligible":
		return x.Eligible || x.GPUMem
	case "gpu_mem_gb":
		return x.GPUMem
	}
	return x.Stages
}

// Check fails with ErrEligible, ErrGPUMem or ErrTags where a file without further columns cannot hold job.
func (x *Extra) Check(job *capcli.Job) error {
	if !x.Eligible && !x.GPUMem && job.Eligible > job.Submit {
		return ErrEligible
	}
	if !x.GPUMem && job.GPUMemMiB > 0 {
		return ErrGPUMem
	}
	if !x.Stages && job.Stage != nil {
		return ErrStages
	}
	if job.Tags == x.last {
		return nil
	}
	for _, t := range job.Tags.All() {
		if !slices.Contains(x.Tags, t.Name) {
			return ErrTags
		}
	}
	x.last = job.Tags
	return nil
}

// TagShares sums up the jobs by the values of one tag.
type TagShares struct {
	Tag    string  `json:"tag"`
	Values []Share `json:"values"` // Name "" is the jobs that lack the tag
}

// tagShares returns the jobs by tag and value.
func (d *describer) tagShares() []TagShares {
	var out []TagShares
	for _, name := range capcli.TagNames(slices.Collect(maps.Keys(d.tags))) {
		byValue := map[string]*tallied{}
		for t, n := range d.tags {
			value := t.Value(name)
			if byValue[value] == nil {
				byValue[value] = &tallied{}
			}
			byValue[value].jobs += n.jobs
			byValue[value].work += n.work
		}
		out = append(out, TagShares{name, d.shares(byValue)})
	}
	return out
}

// KeepTags leaves out the tags that are not in names. It fails with a *capcli.RequestError for a name
// that no job has as a tag.
func (s *Summary) KeepTags(names []string) error {
	var have []string
	var kept []TagShares
	for _, t := range s.Tags {
		have = append(have, t.Tag)
	}
	for _, name := range names {
		at := slices.Index(have, name)
		if at < 0 {
			text := "no job has a tag"
			if have != nil {
				text = "the tags of the jobs are " + strings.Join(have, ", ") + capcli.DidYouMean(name, have)
			}
			return &capcli.RequestError{Field: "by", Text: fmt.Sprintf(": there is no tag %s: %s", capcli.Quoted(name), text), Hint: "--read tag=" + name + " reads the column or label " + name + " as a tag"}
		}
		kept = append(kept, s.Tags[at])
	}
	s.Tags = kept
	return nil
}

// Labelled returns the values with the name (none) for the jobs that lack the tag.
func (t *TagShares) Labelled() []Share {
	out := slices.Clone(t.Values)
	for i := range out {
		out[i].Name = cmp.Or(out[i].Name, capcli.NoTag)
	}
	return out
}
