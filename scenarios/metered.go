package scenarios

// Metered reports, for each pool of Config in order, whether its use costs the on-demand price, so that
// commitments that float may cover it: on-demand capacity, and a capacity reservation at that price.
func (s *Scenario) Metered(o Options) ([]bool, error) {
	files, err := s.load(o.Open)
	if err != nil {
		return nil, err
	}
	var out []bool
	for c := range s.groups(files) {
		out = append(out, c.metered())
	}
	return out, nil
}
