package smoothing

// etsGrad holds the derivatives of the value of run by each parameter. The caller allocates s.
type etsGrad = etsParams

// gradient sets g to the derivatives at the parameters of the last run, by the adjoint of the
// recursion: one pass backwards for any number of parameters (Griewank and Walther, "Evaluating
// Derivatives", 2008, ch. 3).
func (p *etsPass) gradient(par *etsParams, g *etsGrad) {
	*g = etsGrad{s: g.s}
	weight := 2 * float64(p.n) / (p.sse + float64(p.n)*smallest)
	switch p.form.Season {
	case etsNone:
		p.backPlain(par, g, weight)
	case etsAdd:
		p.backAdditive(par, g, weight)
	default:
		p.backMultiplicative(par, g, weight)
	}
}

// etsDirect returns the direct derivatives of run's value by the difference d and by the
// forecast f of one observation. relative says that errors are multiplicative.
func etsDirect(relative bool, weight, d, f float64) (byD, byF float64) {
	if !relative {
		return weight * d, 0
	}
	inv := 1 / f
	e := d * inv
	byD = weight * e * inv
	return byD, 2*inv - byD*e
}

// backPlain is gradient for forms without season. byL and byB are the derivatives by level and
// slope after the observation, byQ that by q.
func (p *etsPass) backPlain(par *etsParams, g *etsGrad, weight float64) {
	alpha, beta, phi, relative := par.alpha, par.beta, par.phi, p.form.Error == etsMul
	var byL, byB float64
	for t := len(p.y) - 1; t >= 0; t-- {
		byQ := byL
		if y := p.y[t]; y == y {
			d := p.d[t]
			byD, byF := etsDirect(relative, weight, d, p.q[t])
			byQ += byF - byD - alpha*byL - beta*byB
			g.alpha += byL * d
			g.beta += byB * d
		}
		g.phi += p.b[t] * (byQ + byB)
		byL, byB = byQ, phi*(byQ+byB)
	}
	g.l, g.b = byL, byB
}

// backAdditive is gradient for an additive season; byS are the derivatives by the seasonal
// states.
func (p *etsPass) backAdditive(par *etsParams, g *etsGrad, weight float64) {
	alpha, beta, gamma, phi, relative := par.alpha, par.beta, par.gamma, par.phi, p.form.Error == etsMul
	byS := g.s
	clear(byS)
	var byL, byB float64
	i := len(p.y) % p.m
	for t := len(p.y) - 1; t >= 0; t-- {
		if i--; i < 0 {
			i = p.m - 1
		}
		byQ := byL
		if y := p.y[t]; y == y {
			d, s := p.d[t], byS[i]
			byD, byF := etsDirect(relative, weight, d, p.q[t]+p.s[t])
			byF -= byD + alpha*byL + beta*byB + gamma*s
			byQ += byF
			byS[i] = s + byF
			g.alpha += byL * d
			g.beta += byB * d
			g.gamma += s * d
		}
		g.phi += p.b[t] * (byQ + byB)
		byL, byB = byQ, phi*(byQ+byB)
	}
	g.l, g.b = byL, byB
}

// backMultiplicative is gradient for a multiplicative season; byS are the derivatives by the
// seasonal states.
func (p *etsPass) backMultiplicative(par *etsParams, g *etsGrad, weight float64) {
	alpha, beta, gamma, phi, relative := par.alpha, par.beta, par.gamma, par.phi, p.form.Error == etsMul
	byS := g.s
	clear(byS)
	var byL, byB float64
	i := len(p.y) % p.m
	for t := len(p.y) - 1; t >= 0; t-- {
		if i--; i < 0 {
			i = p.m - 1
		}
		byQ := byL
		if y := p.y[t]; y == y {
			d, q, s, after := p.d[t], p.q[t], p.s[t], byS[i]
			byD, byF := etsDirect(relative, weight, d, q*s)
			invS, invQ := 1/s, 1/q
			ds, dq := d*invS, d*invQ
			level := (alpha*byL + beta*byB) * invS
			season := gamma * after * invQ
			byF -= byD + level + season
			byQ += byF*s - season*dq
			byS[i] = after + byF*q - level*ds
			g.alpha += byL * ds
			g.beta += byB * ds
			g.gamma += after * dq
		}
		g.phi += p.b[t] * (byQ + byB)
		byL, byB = byQ, phi*(byQ+byB)
	}
	g.l, g.b = byL, byB
}
