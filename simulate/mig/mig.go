// Package mig says which instances of NVIDIA's Multi-Instance GPU (MIG) a GPU holds together, where they
// start on the memory axis, and how many GPUs a set of instances needs.
//
// A GPU has compute slices and memory slices. An instance of a profile takes its compute slices, and its
// memory slices from its start on, which must be one of the starts of the profile. No memory slice is
// taken twice, the compute slices sum to at most the GPU's, each profile has a largest number of
// instances, and one instance at most has the media engines (+me). An instance does not move once it is
// made.
//
// Source: NVIDIA MIG User Guide, "Supported MIG Profiles", "Partitioning" and "Creating GPU Instances".
package mig

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// GPU is one model of GPU with its profiles.
type GPU struct {
	Name            string
	Compute, Memory int   // slices
	MemMiB          int64 // memory of the whole GPU
	Profiles        []Profile
}

// Profile is a kind of instance.
type Profile struct {
	Name            string
	ID              int // number by which nvidia-smi knows it
	Compute, Memory int // slices
	Most            int // most instances on one GPU
	Media           bool
	Starts          []int // on the memory axis, from low to high
	Driver          []int // the starts in the order in which the driver takes them; nil where the guide does not say
	MemMiB          int64 // usable memory
	Reported        bool  // whether MemMiB is as a driver reported it; else it is worked out: see usable
}

// Find returns the GPU of the table with a name.
func Find(name string) (*GPU, error) {
	for i := range table {
		if strings.EqualFold(table[i].Name, name) {
			return &table[i], nil
		}
	}
	return nil, &capcli.RequestError{
		Field: "gpu", Text: fmt.Sprintf("%s is in no table of MIG profiles%s", capcli.Quoted(name), capcli.DidYouMean(name, Names())),
		Hint: "name one of " + strings.Join(Names(), ", "),
	}
}

// Names returns the names of the GPUs of the table, in its order.
func Names() []string { return capcli.Map(table, func(x GPU) string { return x.Name }) }

// Index returns the index of the profile with a name, or -1.
func (g *GPU) Index(name string) int {
	return slices.IndexFunc(g.Profiles, func(p Profile) bool { return strings.EqualFold(p.Name, name) })
}

// ProfileNames returns the names of the profiles, in the order of the table.
func (g *GPU) ProfileNames() []string {
	return capcli.Map(g.Profiles, func(x Profile) string { return x.Name })
}

// Read returns the indices of the named profiles. A name may be followed by "=" and how many of it.
func (g *GPU) Read(names []string) ([]int, error) {
	var mix []int
	for _, text := range names {
		name, many, counted := strings.Cut(text, "=")
		p, n := g.Index(name), 1
		if p < 0 {
			return nil, &capcli.RequestError{
				Text: fmt.Sprintf("%s has no MIG profile %s%s", g.Name, capcli.Quoted(name), capcli.DidYouMean(name, g.ProfileNames())),
				Hint: "it has " + strings.Join(g.ProfileNames(), ", "),
			}
		}
		if counted {
			if _, err := fmt.Sscanf(many, "%d", &n); err != nil || n < 1 || n > MostInstances || fmt.Sprint(n) != many {
				return nil, &capcli.RequestError{
					Text: fmt.Sprintf("%s: want how many instances, 1 to %d, after =", capcli.Quoted(text), MostInstances),
					Hint: "such as " + name + "=4",
				}
			}
		}
		if len(mix)+n > MostInstances {
			return nil, &capcli.RequestError{Text: fmt.Sprintf("more than %d instances", MostInstances), Hint: "ask for a part of them"}
		}
		for range n {
			mix = append(mix, p)
		}
	}
	return mix, nil
}

// MostInstances is the largest number of instances of one question.
const MostInstances = 10_000

// Reason says why instances do not fit on one GPU together; "" if they do.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	Fits          Reason = ""
	TooMuchCores  Reason = "compute"
	TooManyOfKind Reason = "max_instances"
	TooMuchMedia  Reason = "media"
	TooMuchMemory Reason = "memory"
	NoPlace       Reason = "placement"
)

// Explain says the reason in words.
func (r Reason) Explain(g *GPU) string {
	switch r {
	case Fits:
		return ""
	case TooMuchCores:
		return fmt.Sprintf("they take more than the %d compute slices of %s", g.Compute, g.Name)
	case TooManyOfKind:
		return "a profile is there more often than a GPU allows"
	case TooMuchMedia:
		return "more than one of them wants the media engines (+me), which a GPU has once"
	case TooMuchMemory:
		return fmt.Sprintf("they take more than the %d memory slices of %s", g.Memory, g.Name)
	case NoPlace:
		return "there are slices enough, but no starts at which the instances do not overlap"
	}
	panic("mig: unknown reason " + string(r))
}

// Layout is what instances take of one GPU. The zero value is an empty GPU.
type Layout struct {
	Taken   uint8 // memory slices, one bit each
	Compute uint8 // compute slices taken
	Media   bool  // whether an instance with the media engines is there
	count   [maxProfiles]uint8
}

// maxProfiles is the largest number of profiles of a GPU.
const maxProfiles = 8

// IsEmpty reports whether no instance is there.
func (s *Layout) IsEmpty() bool { return s.Taken == 0 }

// Count returns the number of instances of profile p.
func (s *Layout) Count(p int) int { return int(s.count[p]) }

// span returns the memory slices that an instance takes, one bit each.
func (p *Profile) span(start int) uint8 { return uint8(1<<p.Memory-1) << start }

// Allows reports whether the compute slices, the media engines and the number of instances leave room for
// one more of profile p.
func (g *GPU) Allows(s *Layout, p int) bool {
	k := &g.Profiles[p]
	return int(s.Compute)+k.Compute <= g.Compute && int(s.count[p]) < k.Most && (!k.Media || !s.Media)
}

// Start returns the start at which one more instance of profile p goes: the first free one, from the
// lowest or in the order of the driver; -1 if there is none.
func (g *GPU) Start(s *Layout, p int, driver bool) int {
	if !g.Allows(s, p) {
		return -1
	}
	k := &g.Profiles[p]
	starts := k.Starts
	if driver {
		starts = k.Driver
	}
	for _, at := range starts {
		if s.Taken&k.span(at) == 0 {
			return at
		}
	}
	return -1
}

// IsFree reports whether one more instance of profile p can be made at a start.
func (g *GPU) IsFree(s *Layout, p, start int) bool {
	k := &g.Profiles[p]
	return g.Allows(s, p) && slices.Contains(k.Starts, start) && s.Taken&k.span(start) == 0
}

// Make adds an instance, which must be free.
func (g *GPU) Make(s *Layout, p, start int) {
	k := &g.Profiles[p]
	if s.Taken&k.span(start) != 0 {
		panic("mig: an instance overlaps another")
	}
	s.Taken |= k.span(start)
	s.Compute += uint8(k.Compute)
	s.Media = s.Media || k.Media
	s.count[p]++
}

// Remove takes an instance away, which must be there.
func (g *GPU) Remove(s *Layout, p, start int) {
	k := &g.Profiles[p]
	if s.Taken&k.span(start) != k.span(start) || s.count[p] == 0 {
		panic("mig: an instance that is not there was removed")
	}
	s.Taken &^= k.span(start)
	s.Compute -= uint8(k.Compute)
	s.Media = s.Media && !k.Media
	s.count[p]--
}

// FreeMemory returns the number of free memory slices.
func (g *GPU) FreeMemory(s *Layout) int { return g.Memory - bits.OnesCount8(s.Taken) }

// Check says why the instances of a mix cannot be on one GPU together.
func (g *GPU) Check(mix []int) Reason {
	compute, memory, media := 0, 0, 0
	var count [maxProfiles]int
	many := false
	for _, p := range mix {
		k := &g.Profiles[p]
		compute, memory = compute+k.Compute, memory+k.Memory
		if k.Media {
			media++
		}
		count[p]++
		many = many || count[p] > k.Most
	}
	switch {
	case compute > g.Compute:
		return TooMuchCores
	case many:
		return TooManyOfKind
	case media > 1:
		return TooMuchMedia
	case memory > g.Memory:
		return TooMuchMemory
	case g.Place(mix) == nil:
		return NoPlace
	}
	return Fits
}

// Place returns starts for all instances of a mix on an empty GPU, in the order of the mix; nil if there
// are none. The empty mix has the empty answer.
func (g *GPU) Place(mix []int) []int {
	order := make([]int, len(mix)) // larger instances first: they have the fewest starts
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return g.Profiles[mix[b]].Memory - g.Profiles[mix[a]].Memory })
	starts := make([]int, len(mix))
	if !g.placeRest(Layout{}, mix, order, starts) {
		return nil
	}
	return starts
}

// placeRest finds starts for the instances that order names.
func (g *GPU) placeRest(s Layout, mix, order, starts []int) bool {
	if len(order) == 0 {
		return true
	}
	i := order[0]
	p := mix[i]
	for _, at := range g.Profiles[p].Starts {
		if !g.IsFree(&s, p, at) {
			continue
		}
		next := s
		g.Make(&next, p, at)
		if starts[i] = at; g.placeRest(next, mix, order[1:], starts) {
			return true
		}
	}
	return false
}

// HasDriverOrder reports whether the guide says in which order the driver takes the starts of all
// profiles of a mix.
func (g *GPU) HasDriverOrder(mix []int) bool {
	return !slices.ContainsFunc(mix, func(p int) bool { return g.Profiles[p].Driver == nil })
}

// Line makes the instances of a mix one after another on an empty GPU. It returns the starts of those
// before the first that cannot be made, and the index of that; -1 if all can be made.
func (g *GPU) Line(mix []int, driver bool) (starts []int, failsAt int) {
	var s Layout
	starts = []int{}
	for i, p := range mix {
		at := g.Start(&s, p, driver)
		if at < 0 {
			return starts, i
		}
		g.Make(&s, p, at)
		starts = append(starts, at)
	}
	return starts, -1
}

// Milli returns what an instance of a profile is of a GPU's compute slices, in thousandths, rounded down;
// 0 if no GPU of the table has the profile. A profile takes the same part of each GPU that has it.
func Milli(profile string) int {
	for i := range table {
		if k := table[i].Index(profile); k >= 0 {
			return table[i].Profiles[k].Compute * 1000 / table[i].Compute
		}
	}
	return 0
}

// Smallest returns the index of the profile with the fewest slices whose instance has so many thousandths
// of the GPU's compute slices and so much usable memory, or -1. Profiles with media engines are left out.
func (g *GPU) Smallest(milli int, memMiB int64) int {
	best := -1
	for p := range g.Profiles {
		k := &g.Profiles[p]
		if k.Media || k.Compute*1000/g.Compute < milli-1 || k.MemMiB < memMiB {
			continue
		}
		if best < 0 || k.Memory < g.Profiles[best].Memory || k.Memory == g.Profiles[best].Memory && k.Compute < g.Profiles[best].Compute {
			best = p
		}
	}
	return best
}

// models are the facts of the table: names of the profiles and the memory in GiB that drivers report as
// usable ("-": not known). Each line of a GPU with seven compute slices has the profiles in the order
// 1g, 1g+me, 1g with double memory, 2g, 3g, 4g, 7g; of an A30 1g, 1g+me, 2g, 2g+me, 4g.
//
// Source: NVIDIA MIG User Guide, "Supported MIG Profiles", and listings of nvidia-smi mig -lgip. The
// starts of H200 and B200 follow from the common geometry; no listing of such a card is known to us.
const models = `
A30-24GB    24  1g.6gb 5.7,   1g.6gb+me 5.7,    2g.12gb 11.4,  2g.12gb+me 11.4,                4g.24gb 22.8
A100-40GB   40  1g.5gb 4.75,  1g.5gb+me 4.75,   1g.10gb 9.62,  2g.10gb 9.62,  3g.20gb 19.5,  4g.20gb 19.5,  7g.40gb 39.25
A100-80GB   80  1g.10gb 9.62, 1g.10gb+me 9.62,  1g.20gb 19.5,  2g.20gb 19.5,  3g.40gb 39.25, 4g.40gb 39.25, 7g.80gb 78.5
H100-80GB   80  1g.10gb 9.75, 1g.10gb+me 9.75,  1g.20gb 19.62, 2g.20gb 19.62, 3g.40gb 39.5,  4g.40gb 39.5,  7g.80gb 79.25
H100-94GB   94  1g.12gb 10.75, 1g.12gb+me 10.75, 1g.24gb 21.62, 2g.24gb 21.62, 3g.47gb 46.38, 4g.47gb 46.38, 7g.94gb 93.12
H100-96GB   96  1g.12gb -,    1g.12gb+me -,     1g.24gb -,     2g.24gb -,     3g.48gb -,     4g.48gb -,     7g.96gb -
H200-141GB  141 1g.18gb -,    1g.18gb+me -,     1g.35gb -,     2g.35gb -,     3g.71gb -,     4g.71gb -,     7g.141gb -
B200-180GB  180 1g.23gb -,    1g.23gb+me -,     1g.45gb -,     2g.45gb -,     3g.90gb -,     4g.90gb -,     7g.180gb -`

// geometry is what the profiles of all GPUs with so many compute slices have in common.
var geometry = map[int][]Profile{
	7: {
		{ID: 19, Compute: 1, Memory: 1, Most: 7, Starts: []int{0, 1, 2, 3, 4, 5, 6}},
		{ID: 20, Compute: 1, Memory: 1, Most: 1, Starts: []int{0, 1, 2, 3, 4, 5, 6}, Media: true},
		{ID: 15, Compute: 1, Memory: 2, Most: 4, Starts: []int{0, 2, 4, 6}},
		{ID: 14, Compute: 2, Memory: 2, Most: 3, Starts: []int{0, 2, 4}},
		{ID: 9, Compute: 3, Memory: 4, Most: 2, Starts: []int{0, 4}},
		{ID: 5, Compute: 4, Memory: 4, Most: 1, Starts: []int{0}},
		{ID: 0, Compute: 7, Memory: 8, Most: 1, Starts: []int{0}},
	},
	4: {
		{ID: 14, Compute: 1, Memory: 1, Most: 4, Starts: []int{0, 1, 2, 3}},
		{ID: 21, Compute: 1, Memory: 1, Most: 1, Starts: []int{0, 1, 2, 3}, Media: true},
		{ID: 5, Compute: 2, Memory: 2, Most: 2, Starts: []int{0, 2}},
		{ID: 6, Compute: 2, Memory: 2, Most: 1, Starts: []int{0, 2}, Media: true},
		{ID: 0, Compute: 4, Memory: 4, Most: 1, Starts: []int{0}},
	},
}

// driverStarts is the order in which the driver of an A100 takes the starts, as the three examples of the
// guide's "Creating GPU Instances" show it, by the number of the profile. Other models differ, and the
// guide does not show the media and double-memory profiles.
var driverStarts = map[int][]int{
	19: {6, 4, 5, 0, 1, 2, 3},
	14: {4, 0, 2},
	9:  {4, 0},
	5:  {0},
	0:  {0},
}

var table = readTable(models)

// readTable makes the table of the facts. It panics at a line that it does not understand.
func readTable(text string) []GPU {
	var gpus []GPU
	for line := range strings.Lines(strings.TrimSpace(text)) {
		parts := strings.Fields(strings.ReplaceAll(line, ",", " "))
		gb, err := strconv.Atoi(parts[1])
		if err != nil {
			panic(err)
		}
		g := GPU{Name: parts[0], Compute: 7, Memory: 8, MemMiB: int64(gb) << 10}
		if g.Name == "A30-24GB" {
			g.Compute, g.Memory = 4, 4
		}
		for i, common := range geometry[g.Compute] {
			p := common
			p.Name = parts[2+2*i]
			if p.MemMiB, p.Reported = usable(parts[3+2*i], &p, &g); strings.HasPrefix(g.Name, "A100") {
				p.Driver = driverStarts[p.ID]
			}
			g.Profiles = append(g.Profiles, p)
		}
		if len(parts) != 2+2*len(g.Profiles) {
			panic("mig: a line of the table does not have the profiles of its geometry: " + g.Name)
		}
		gpus = append(gpus, g)
	}
	return gpus
}

// usable returns the usable memory of a profile. Where no driver's report is known it is nine tenths of
// its memory slices' share of the GPU, which is less than of all reported ones.
func usable(gib string, p *Profile, g *GPU) (mib int64, reported bool) {
	if gib == "-" {
		return g.MemMiB * int64(p.Memory) * 9 / int64(g.Memory) / 10, false
	}
	v, err := strconv.ParseFloat(gib, 64)
	if err != nil {
		panic(fmt.Sprintf("mig: %v", err))
	}
	return int64(v * 1024), true
}
