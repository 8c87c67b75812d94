package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// slurmTopology is the domains of nodes by Slurm's topology.conf: of topology/tree (SwitchName, Nodes,
// Switches) or topology/block (BlockName, Nodes, BlockSizes).
type slurmTopology struct {
	blocks   bool
	sizes    []int // BlockSizes: nodes of a block, and of the groups of blocks above it
	switches []slurmSwitch
}

// slurmSwitch is a line of the file.
type slurmSwitch struct {
	name            string
	nodes, switches []string
	line            int
}

// maxNodes is the most nodes that a topology names.
const maxNodes = 200_000

// readSlurmTopology returns the domains of each node from wide to narrow, sorted. Lines that begin with #
// are comments, and LinkSpeed does not matter, as for Slurm.
func readSlurmTopology(file string, b []byte) ([][]string, error) {
	var t slurmTopology
	total := 0
	for i, text := range strings.Split(string(b), "\n") {
		text, _, _ = strings.Cut(text, "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		n, err := t.add(text, i+1)
		if total += n; err == nil && total > maxNodes {
			err = fmt.Errorf("over %d names", maxNodes)
		}
		if err != nil {
			return nil, &capcli.InputError{File: file, Line: i + 1, Text: err.Error()}
		}
	}
	paths, line, err := t.paths()
	if err != nil {
		return nil, &capcli.InputError{File: file, Line: line, Text: err.Error()}
	}
	slices.SortStableFunc(paths, slices.Compare)
	return paths, nil
}

// add reads a line. It returns how many names the line has.
func (t *slurmTopology) add(text string, line int) (names int, err error) {
	s := slurmSwitch{line: line}
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		var list *[]string
		switch strings.ToLower(key) {
		case "switchname", "blockname":
			s.name = value
			t.blocks = t.blocks || strings.EqualFold(key, "blockname")
		case "nodes":
			list = &s.nodes
		case "switches":
			list = &s.switches
		case "blocksizes":
			if t.sizes, err = parseSizes(value); err != nil {
				return 0, err
			}
		case "linkspeed":
		default:
			return 0, fmt.Errorf("unknown word %s: want SwitchName, Nodes, Switches, BlockName, BlockSizes", capcli.Quoted(key))
		}
		if list != nil {
			if *list, err = expandHosts(value); err != nil {
				return 0, err
			}
			names += len(*list)
		}
	}
	switch {
	case s.name == "" && names > 0:
		return 0, fmt.Errorf("nodes of no switch or block: want SwitchName or BlockName")
	case s.name != "" && (len(s.nodes) > 0) == (len(s.switches) > 0):
		return 0, fmt.Errorf("%s needs nodes or switches", capcli.Quoted(s.name))
	case s.name != "" && slices.ContainsFunc(t.switches, func(o slurmSwitch) bool { return o.name == s.name }):
		return 0, fmt.Errorf("%s is there twice", capcli.Quoted(s.name))
	case s.name != "":
		t.switches = append(t.switches, s)
	}
	return names, nil
}

// parseSizes reads BlockSizes, each a multiple of the one before.
func parseSizes(text string) (out []int, err error) {
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > maxNodes || len(out) == maxLevels || len(out) > 0 && (n <= out[len(out)-1] || n%out[len(out)-1] != 0) {
			return nil, fmt.Errorf("BlockSizes wants numbers of nodes, each a multiple of the one before; found %s", capcli.Quoted(text))
		}
		out = append(out, n)
	}
	return out, nil
}

// paths returns the domains of each node from wide to narrow, and the line of an error.
func (t *slurmTopology) paths() (out [][]string, line int, err error) {
	above, line, err := t.parents()
	if err != nil {
		return nil, line, err
	}
	seen, depth := map[string]bool{}, 0
	for i, s := range t.switches {
		path := []string{s.name}
		for up, ok := above[s.name]; ok && len(path) <= maxLevels; up, ok = above[up] {
			path = append(path, up)
		}
		for k := 1; t.blocks && k < len(t.sizes); k++ { // groups of so many blocks that follow each other
			path = append(path, fmt.Sprintf("group%d-%06d", k, i*t.sizes[0]/t.sizes[k]))
		}
		slices.Reverse(path)
		if len(s.nodes) == 0 {
			continue
		}
		depth = cmp.Or(depth, len(path))
		if len(path) != depth || depth > maxLevels {
			return nil, s.line, fmt.Errorf("%s is %d levels deep, others %d: all nodes must be equally deep, at most %d", capcli.Quoted(s.name), len(path), depth, maxLevels)
		}
		for _, n := range s.nodes {
			if seen[n] {
				return nil, s.line, fmt.Errorf("node %s is there twice", capcli.Quoted(n))
			}
			seen[n] = true
			out = append(out, path)
		}
	}
	if len(out) == 0 {
		return nil, 0, fmt.Errorf("the file names no nodes: want lines such as SwitchName=rack1 Nodes=n[01-18], or BlockName=b1 Nodes=n[01-18]")
	}
	return out, 0, nil
}

// parents returns the switch above each switch, and the line of an error.
func (t *slurmTopology) parents() (above map[string]string, line int, err error) {
	above = map[string]string{}
	for _, s := range t.switches {
		for _, below := range s.switches {
			if other, twice := above[below]; twice {
				return nil, s.line, fmt.Errorf("switch %s is below %s and %s: this reader wants a tree", capcli.Quoted(below), capcli.Quoted(other), capcli.Quoted(s.name))
			}
			above[below] = s.name
		}
	}
	return above, 0, nil
}

// expandHosts returns the names of a list such as n[01-03,7],login.
func expandHosts(text string) (out []string, err error) {
	for text != "" {
		part := text
		if at := endOfHosts(text); at >= 0 {
			part, text = text[:at], text[at+1:]
		} else {
			text = ""
		}
		names, err := expandRange(part)
		if err != nil {
			return nil, err
		}
		if out = append(out, names...); len(out) > maxNodes {
			return nil, fmt.Errorf("over %d names", maxNodes)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("an empty list of names")
	}
	return out, nil
}

// endOfHosts returns the index of the first comma outside of brackets, or -1.
func endOfHosts(text string) int {
	within := false
	return strings.IndexFunc(text, func(r rune) bool {
		within = r == '[' || within && r != ']'
		return r == ',' && !within
	})
}

// expandRange returns the names of one part, such as n[01-03,7].
func expandRange(part string) ([]string, error) {
	before, rest, has := strings.Cut(part, "[")
	if !has {
		if part == "" || strings.Contains(part, "]") {
			return nil, fmt.Errorf("want names such as n[01-18], found %s", capcli.Quoted(part))
		}
		return []string{part}, nil
	}
	list, after, closed := strings.Cut(rest, "]")
	if !closed || strings.ContainsAny(after, "[]") {
		return nil, fmt.Errorf("want one range such as n[01-18], found %s", capcli.Quoted(part))
	}
	var out []string
	for word := range strings.SplitSeq(list, ",") {
		from, to, two := strings.Cut(word, "-")
		if !two {
			to = from
		}
		lo, err := strconv.ParseUint(from, 10, 32)
		hi, err2 := strconv.ParseUint(to, 10, 32)
		if err != nil || err2 != nil || hi < lo || hi-lo >= maxNodes || len(from) > 10 {
			return nil, fmt.Errorf("want a range such as 01-18, found %s", capcli.Quoted(word))
		}
		for n := lo; n <= hi; n++ {
			out = append(out, fmt.Sprintf("%s%0*d%s", before, len(from), n, after))
		}
		if len(out) > maxNodes {
			return nil, fmt.Errorf("over %d names", maxNodes)
		}
	}
	return out, nil
}

// loadDomains reads the topology of a pool and checks it against the pool's size and levels.
func (f *files) loadDomains(c *Capacity, open func(string) ([]byte, error)) error {
	if c.Topology == "" {
		return nil
	}
	b, err := open(c.Topology)
	if err != nil {
		return err
	}
	paths, err := readSlurmTopology(c.Topology, b)
	if err != nil {
		return err
	}
	switch {
	case len(paths) != c.Nodes:
		return &capcli.InputError{File: c.Topology, Text: fmt.Sprintf("has %d nodes, and pool %s has %d", len(paths), capcli.Quoted(c.Name), c.Nodes)}
	case len(paths[0]) != len(c.Domains):
		return &capcli.InputError{
			File: c.Topology, Text: fmt.Sprintf("has %d levels above the node, and domains of pool %s name %d", len(paths[0]), capcli.Quoted(c.Name), len(c.Domains)),
			Hint: "name each level from wide to narrow: domains: [{level: block}, {level: rack}]",
		}
	}
	f.domains[c.Name] = paths
	return nil
}
