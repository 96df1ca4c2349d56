-- Creates the database and its roles. Patroni runs this with psql on the first primary.
\set ON_ERROR_STOP on
create database petstore;
\connect petstore
\include /etc/roles/roles.sql
