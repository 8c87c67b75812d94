package smoothing

import "math"

// mean returns the point forecasts of the next h values: the states move on without errors.
func (f *etsFit) mean(h int) []float64 {
	out := make([]float64, h)
	l, b := f.end.l, f.end.b
	for i := range out {
		l += f.end.phi * b
		b *= f.end.phi
		out[i] = l
		switch f.form.Season {
		case etsAdd:
			out[i] += f.end.s[i%f.m]
		case etsMul:
			out[i] *= f.end.s[i%f.m]
		}
	}
	return out
}

// moments returns the means and standard deviations of the next h values where formulae are
// known (Hyndman et al. 2008, ch. 6): class 1, additive throughout; class 2, additive states
// with multiplicative errors; class 3, multiplicative errors and season. ok is false for other
// forms.
func (f *etsFit) moments(h int) (mean, sd []float64, ok bool) {
	switch {
	case f.form.Season == etsMul && f.form.Error == etsAdd:
		return nil, nil, false
	case f.form.Season == etsMul:
		mean, sd = f.momentsSeasonal(h)
		return mean, sd, true
	}
	mean, sd = f.mean(h), make([]float64, h)
	c2 := f.weights(h)
	if f.form.Error == etsAdd {
		sum := 1.0
		for i := range sd {
			sd[i] = math.Sqrt(f.sigma2 * sum)
			sum += c2[i]
		}
		return mean, sd, true
	}
	// theta is mu² plus excess, the variance of mu. They are kept apart because a small error
	// beside a large level would be lost in the rounding of its square.
	theta := make([]float64, h)
	for i, mu := range mean {
		sum := 0.0
		for j := range i {
			sum += c2[j] * theta[i-1-j]
		}
		excess := f.sigma2 * sum
		theta[i] = mu*mu + excess
		sd[i] = math.Sqrt(f.sigma2*theta[i] + excess)
	}
	return mean, sd, true
}

// weights returns the squares of c_1, c_2, …, the weight of an error in the value j steps later:
// c_j = alpha + beta (phi + … + phi^j) + gamma [m divides j].
func (f *etsFit) weights(h int) []float64 {
	out := make([]float64, h)
	power, sum := 1.0, 0.0
	for i := range out {
		power *= f.par.phi
		sum += power
		c := f.par.alpha + f.par.beta*sum
		if f.form.Season != etsNone && (i+1)%f.m == 0 {
			c += f.par.gamma
		}
		out[i] = c * c
	}
	return out
}

// etsPair is a level and a slope, or their means.
type etsPair struct{ l, b float64 }

// etsSquare is the covariance matrix of level and slope.
type etsSquare struct{ ll, lb, bb float64 }

// momentsSeasonal returns the means and standard deviations of class 3. With a normal error e of
// variance v, level and slope x become (F + G e) x, and the seasonal state of value h is
// multiplied by 1 + gamma e at h-m, h-2m, …. Errors of different times are independent, so the
// moments of the product are carried forward step by step, once for each phase. They equal op.
// cit. eq. 6.6 to 6.8. The second moments are carried about the mean: those about zero lose a
// small error beside a large level.
func (f *etsFit) momentsSeasonal(h int) (mean, sd []float64) {
	mean, sd = make([]float64, h), make([]float64, h)
	v, phi := f.sigma2, f.par.phi
	for phase := range min(f.m, h) {
		s := f.end.s[phase]
		x := etsPair{f.end.l, f.end.b}
		var c etsSquare
		for t := range h {
			if t%f.m == phase {
				q := x.l + phi*x.b
				second := (1+v)*(c.ll+2*phi*c.lb+phi*phi*c.bb) + v*q*q
				mean[t], sd[t] = q*s, math.Sqrt(max(second, 0))*math.Abs(s)
				x, c = f.step(x, c, f.par.gamma)
			} else {
				x, c = f.step(x, c, 0)
			}
		}
	}
	return mean, sd
}

// step returns the mean and covariance of A(e) x with A(e) = (1 + g e)(F + G e), for a random
// state of mean x and covariance c. The covariance is E[A c A'] plus that of A(e) E[x] = f + e
// (h + g f) + e² g h, where F x = f = (q, phi b) and G x = h = (alpha q, beta q).
func (f *etsFit) step(x etsPair, c etsSquare, g float64) (etsPair, etsSquare) {
	v, phi, alpha, beta := f.sigma2, f.par.phi, f.par.alpha, f.par.beta
	q := x.l + phi*x.b
	next := etsPair{q * (1 + g*v*alpha), phi*x.b + q*g*v*beta}
	// F c F', F c G' + G c F' and G c G'.
	qq := c.ll + 2*phi*c.lb + phi*phi*c.bb
	qb := phi * (c.lb + phi*c.bb)
	bb := phi * phi * c.bb
	c0, c1, c2 := 1+g*g*v, 2*g*v, v*(1+3*g*g*v)
	out := etsSquare{
		ll: c0*qq + c1*2*alpha*qq + c2*alpha*alpha*qq,
		lb: c0*qb + c1*(beta*qq+alpha*qb) + c2*alpha*beta*qq,
		bb: c0*bb + c1*2*beta*qb + c2*beta*beta*qq,
	}
	l, b := (alpha+g)*q, beta*q+g*phi*x.b
	twice := 2 * v * v * g * g * q * q
	out.ll += v*l*l + twice*alpha*alpha
	out.lb += v*l*b + twice*alpha*beta
	out.bb += v*b*b + twice*beta*beta
	return next, out
}
