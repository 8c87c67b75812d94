package capcli

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on tags. MaxTagSets bounds the memory of a reader whatever its input says.
const (
	MaxTags     = 16      // tags of one job
	MaxTagName  = 64      // bytes of a name
	MaxTagValue = 128     // bytes of a value
	MaxTagSets  = 1 << 16 // different sets of one reader
)

// OtherTag is the value of every tag of a job whose set is beyond MaxTagSets.
const OtherTag = "(other)"

// NoTag is the text for the jobs that lack a tag.
const NoTag = "(none)"

// Tag is a word about a job that names a group of jobs: its project, its team, its environment.
type Tag struct {
	Name  string `json:"tag"`
	Value string `json:"value"`
}

// Tags are the tags of a job, in order of name. They never change, and jobs with the same tags share
// them: see TagSets. A nil *Tags has no tags.
type Tags struct {
	list []Tag
	key  string
}

// All returns the tags in order of name. The caller does not change them.
func (t *Tags) All() []Tag {
	if t == nil {
		return nil
	}
	return t.list
}

// Value returns the value of the tag called name; "" if the job lacks it.
func (t *Tags) Value(name string) string {
	if t == nil {
		return ""
	}
	for i := range t.list {
		if t.list[i].Name == name {
			return t.list[i].Value
		}
	}
	return ""
}

// Key returns a text that is the same for equal tags and different for others; "" for no tags.
func (t *Tags) Key() string {
	if t == nil {
		return ""
	}
	return t.key
}

// NewTags returns tags without a reader, such as those of a generated job. Later tags of the same
// name and tags without a value are left out. It returns nil for no tags.
func NewTags(list ...Tag) *Tags {
	var s TagSets
	names, values := make([]string, len(list)), make([]string, len(list))
	for i, t := range list {
		names[i], values[i] = t.Name, t.Value
	}
	s.SetNames(names)
	out, _ := s.FindTexts(values)
	return out
}

// Merge returns the tags of t, and those of more whose names t lacks, at most MaxTags.
func (t *Tags) Merge(more *Tags) *Tags {
	switch {
	case t == nil:
		return more
	case more == nil:
		return t
	}
	list := slices.Clone(t.list)
	for _, tag := range more.list {
		if t.Value(tag.Name) == "" && len(list) < MaxTags {
			list = append(list, tag)
		}
	}
	if len(list) == len(t.list) {
		return t
	}
	return makeTags(list)
}

// makeTags returns the tags in list, in any order. It keeps the list.
func makeTags(list []Tag) *Tags {
	slices.SortFunc(list, func(a, b Tag) int { return cmp.Compare(a.Name, b.Name) })
	return &Tags{list, tagKey(list)}
}

// GobEncode returns the tags for package gob, which keeps results for later questions.
func (t *Tags) GobEncode() ([]byte, error) { return json.Marshal(t.list) }

// GobDecode sets t to tags that GobEncode wrote.
func (t *Tags) GobDecode(b []byte) error {
	var list []Tag
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*t = *makeTags(list)
	return nil
}

// CheckTagName returns what is wrong with the name of a tag; "" if nothing is.
func CheckTagName(name string) string {
	clean, cut := CleanTag(name, MaxTagName)
	switch {
	case name == "":
		return "a tag needs a name"
	case cut:
		return fmt.Sprintf("a name has at most %d bytes", MaxTagName)
	case clean != name, strings.ContainsAny(name, ",=:;|\""), !utf8.ValidString(name):
		return "a name has none of , = : ; | and quotes, no control characters and no blanks at its ends"
	}
	return ""
}

// CleanTag returns text without control characters, without blanks at its ends and with its bytes
// that are not UTF-8 replaced. It cuts text after most bytes, and reports whether it did.
func CleanTag(text string, most int) (clean string, cut bool) {
	if strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) >= 0 {
		text = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, text)
	}
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text, false
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most]), true
}

// TagSets makes each set of tags once. The rows of a log have one value for each of a list of names,
// and rows with the same values get the same *Tags: reading allocates for each different set, not
// for each row. The zero value has no names.
type TagSets struct {
	names []string
	raw   map[string]found // by the values as the rows have them
	sets  map[string]*Tags // by Tags.Key
	last  found
	key   []byte // key of last in raw
	next  []byte // the key being looked up
	other *Tags
}

// found is what Find returned for a row.
type found struct {
	tags *Tags
	flaw TagFlaw
}

// TagFlaw says what could not be kept of a row's tags.
type TagFlaw int

// The flaws of tags.
const (
	TagsWhole TagFlaw = iota // all is kept
	TagCut                   // a value has more than MaxTagValue bytes and was cut
	TagsOther                // there are more than MaxTagSets sets: the values became OtherTag
)

// SetNames sets the names of the values that Find is given. A later name that is in the list twice
// is ignored, and so are names after MaxTags.
func (s *TagSets) SetNames(names []string) {
	s.names, s.raw, s.last, s.key = slices.Clone(names), nil, found{}, nil
}

// Find returns the tags of a row: one value for each name, empty where the row lacks that tag. It
// returns nil for a row without tags.
func (s *TagSets) Find(values [][]byte) (*Tags, TagFlaw) { return findTags(s, values) }

// FindTexts is Find for values that are texts.
func (s *TagSets) FindTexts(values []string) (*Tags, TagFlaw) { return findTags(s, values) }

func findTags[T string | []byte](s *TagSets, values []T) (*Tags, TagFlaw) {
	s.next = s.next[:0]
	has := false
	for _, v := range values {
		has = has || len(v) > 0
		s.next = append(binary.AppendUvarint(s.next, uint64(len(v))), v...)
	}
	if !has {
		return nil, TagsWhole
	}
	if s.last.tags != nil && string(s.next) == string(s.key) {
		return s.last.tags, s.last.flaw
	}
	f, known := s.raw[string(s.next)]
	if !known {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = string(v)
		}
		f = s.find(texts)
		if s.raw == nil {
			s.raw = map[string]found{}
		}
		if len(s.raw) < 2*MaxTagSets {
			s.raw[string(s.next)] = f
		}
	}
	s.key, s.next, s.last = s.next, s.key, f
	return f.tags, f.flaw
}

// find returns the tags of a row that Find has not seen.
func (s *TagSets) find(values []string) (f found) {
	var list []Tag
	for i, v := range values[:min(len(values), len(s.names), MaxTags)] {
		value, cut := CleanTag(v, MaxTagValue)
		name := s.names[i]
		if value == "" || name == "" || slices.ContainsFunc(list, func(t Tag) bool { return t.Name == name }) {
			continue
		}
		if cut {
			f.flaw = TagCut
		}
		list = append(list, Tag{name, value})
	}
	if list == nil {
		return f
	}
	tags := makeTags(list)
	if f.tags = s.sets[tags.key]; f.tags != nil {
		return f
	}
	if s.sets == nil {
		s.sets = map[string]*Tags{}
	}
	if len(s.sets) >= MaxTagSets {
		return found{s.others(), TagsOther}
	}
	f.tags = tags
	s.sets[tags.key] = tags
	return f
}

// others returns the tags of the rows beyond MaxTagSets.
func (s *TagSets) others() *Tags {
	if s.other == nil {
		names := slices.Clone(s.names[:min(len(s.names), MaxTags)])
		slices.Sort(names)
		var list []Tag
		for _, n := range slices.Compact(names) {
			list = append(list, Tag{n, OtherTag})
		}
		s.other = &Tags{list, tagKey(list)}
	}
	return s.other
}

// tagKey returns the key of tags in order of name. Names and values have no control characters, so
// that different tags have different keys.
func tagKey(list []Tag) string {
	var b strings.Builder
	for _, t := range list {
		b.WriteString(t.Name)
		b.WriteByte(1)
		b.WriteString(t.Value)
		b.WriteByte(2)
	}
	return b.String()
}

// TagNames returns the names of the tags in sets, each once, in order.
func TagNames(sets []*Tags) []string {
	var out []string
	for _, t := range sets {
		for _, tag := range t.All() {
			if at, has := slices.BinarySearch(out, tag.Name); !has {
				out = slices.Insert(out, at, tag.Name)
			}
		}
	}
	return out
}
