"""The paper's own formulation: the LCP, the lagged step, closed-form gradients."""
