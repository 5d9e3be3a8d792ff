"""How models are trained, evaluated and asked: compile, fit, evaluate, predict."""
